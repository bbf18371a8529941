public import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A recording as one page for a browser, which asks for nothing else: a waterfall of all exchanges on one axis of time, to
/// be filtered and sorted, and of each its heads, bodies, phases and what was taken out of it.
///
/// A page of 1,000 entries has less than 2 MB: where bodies would make more of it, the longest are shown in part.
public struct HTMLReport: Sendable {
    private let recording: Recording
    private let title: String
    private let entries: [NumberedEntry]
    private let redactor: Redactor?

    /// A report on what a recording holds.
    ///
    /// - Parameters:
    ///   - recording: what is told of.
    ///   - title: what the page is called.
    ///   - filter: which entries are shown; all by default.
    ///   - redactor: takes out what is secret, as in an archive of another tool; what a log of ours holds is without
    ///     secrets already. Nil shows everything.
    public init(
        _ recording: Recording,
        title: String,
        filter: EntryFilter? = nil,
        redactor: Redactor? = Redactor()
    ) {
        self.recording = recording
        self.title = title
        self.redactor = redactor
        entries = recording.entries(matching: filter).map { item in
            NumberedEntry(number: item.number, entry: redactor.map(item.entry.redacted) ?? item.entry)
        }
    }

    /// The page, in UTF-8.
    ///
    /// - Throws: `NetworkError` where the system has no SHA-256, by which the page's own script is told from others.
    public func page() throws(NetworkError) -> Data {
        let policy =
            "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'"
            + "; style-src '\(try Self.source(HTMLReportStyle.text))'; script-src '\(try Self.source(HTMLReportScript.text))'"
        let name = Self.escaped(title)
        let head = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(policy)">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="generator" content="beagle \(beagleNetVersion)">
            <title>\(name)</title>
            <style>\(HTMLReportStyle.text)</style>
            </head>
            <body>
            <noscript><p>This page needs JavaScript to show its log.</p></noscript>
            <script type="application/json" id="log">
            """
        let tail = "</script>\n<script>\(HTMLReportScript.text)</script>\n</body>\n</html>\n"
        let budget = max(entries.count, 1000) * 2000 - head.utf8.count - tail.utf8.count - 1000
        var data = HTMLReportData(title: title, recording: recording, entries: entries, redactor: redactor)
        return Data(head.utf8) + data.json(within: budget) + Data(tail.utf8)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    }

    /// How a policy names a script or style by what it holds (CSP 3, 2.3.1).
    private static func source(_ text: String) throws(NetworkError) -> String {
        let digits = Array(try SHA256Digest.hex(of: Data(text.utf8)).utf8)
        let bytes = stride(from: 0, to: digits.count, by: 2).map { place in
            UInt8(String(decoding: digits[place..<(place + 2)], as: UTF8.self), radix: 16) ?? 0
        }
        return "sha256-\(Data(bytes).base64EncodedString())"
    }
}
