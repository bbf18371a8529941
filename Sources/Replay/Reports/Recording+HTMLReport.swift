public import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Recording {
    /// A recording as a self-contained web page, with a waterfall of all exchanges on a single time axis.
    ///
    /// The exchanges can be filtered and sorted. Their details show header fields, bodies, phases and redactions. A
    /// page with 1,000 entries is smaller than 2 MB; if bodies would exceed this, the longest are truncated.
    public struct HTMLReport: Sendable {
        private let recording: Recording
        private let title: String
        private let entries: [NumberedEntry]
        private let redactor: Redactor?

        /// Creates a report for a recording.
        ///
        /// - Parameters:
        ///   - recording: the recording.
        ///   - title: the title of the page.
        ///   - filter: the filter for shown entries; all by default.
        ///   - redactor: the redactor that removes secrets, for example from another tool's archive; BeagleNet's logs
        ///     contain none. `nil` to show everything.
        public init(
            _ recording: Recording,
            title: String,
            filter: Filter? = nil,
            redactor: Redactor? = Redactor()
        ) {
            self.recording = recording
            self.title = title
            self.redactor = redactor
            entries = recording.entries(matching: filter).map { item in
                NumberedEntry(number: item.number, entry: redactor.map(item.entry.redacted) ?? item.entry)
            }
        }

        /// Returns the page in UTF-8.
        ///
        /// - Throws: `NetworkError` if the system has no SHA-256, which the page's content security policy needs.
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

        /// Returns the hash source of a script or style for a policy (CSP 3, 2.3.1).
        private static func source(_ text: String) throws(NetworkError) -> String {
            let digits = Array(try SHA256Digest.hex(of: Data(text.utf8)).utf8)
            let bytes = stride(from: 0, to: digits.count, by: 2).map { place in
                UInt8(String(decoding: digits[place..<(place + 2)], as: UTF8.self), radix: 16) ?? 0
            }
            return "sha256-\(Data(bytes).base64EncodedString())"
        }
    }
}
