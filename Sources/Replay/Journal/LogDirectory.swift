import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The directory of a log: `meta.json`, the segments `000001.jsonl` and so on, and `bodies`.
///
/// Each process that writes also holds a lock on a file `SESSION.live` while it runs.
struct LogDirectory: Sendable {
    /// The format that is written, and the newest format that can be read.
    static let format = 1
    private static let segmentEnding = ".jsonl"

    let path: String

    /// The folder, whose operations follow no links.
    var folder: ConfinedFolder { ConfinedFolder(path: path) }
    var meta: PrivateFile { PrivateFile("meta.json", in: folder) }
    var bodies: String { "\(path)/bodies" }

    func segment(_ number: Int) -> String {
        let digits = String(number)
        return "\(path)/\(String(repeating: "0", count: max(6 - digits.count, 0)))\(digits)\(Self.segmentEnding)"
    }

    func live(_ session: String) -> String { "\(path)/\(session).live" }

    /// Returns the file name of a body with this SHA-256, relative to the directory.
    func body(_ digest: String) -> String { "bodies/\(digest.prefix(2))/\(digest)" }

    /// Returns the file name of an incomplete body, relative to the directory.
    func part(of entry: String, _ side: MessageSide) -> String { "bodies/\(entry).\(side.rawValue).part" }

    /// Returns the numbers of the existing segments, in order.
    func segments() throws(NetworkError) -> [Int] {
        try names().compactMap { name in
            guard name.hasSuffix(Self.segmentEnding) else { return nil }
            // Only canonical names, because another spelling of a number would be read as a different file.
            return Int32(name.dropLast(Self.segmentEnding.count)).flatMap { number in
                0 < number && number < .max && segment(Int(number)) == "\(path)/\(name)" ? Int(number) : nil
            }
        }.sorted()
    }

    /// Returns the names of the files in the directory.
    func names() throws(NetworkError) -> [String] {
        if let names = try folder.entries() { return names }
        throw NetworkError(.file, during: .file, "cannot read the directory \(path): it does not exist")
    }

    /// Returns the name of a file that doesn't belong to a log, or `nil` if all files do.
    func unrelatedFileName() throws(NetworkError) -> String? {
        for name in try names() {
            if name == "bodies" {
                if let other = try unrelatedBodyName() { return other }
            } else if !Self.isOfLog(name) || folder.status(of: name)?.isRegular != true {
                return name
            }
        }
        return nil
    }

    private func unrelatedBodyName() throws(NetworkError) -> String? {
        guard let names = try folder.entries(of: "bodies") else { return "bodies" }
        for name in names.map({ "bodies/\($0)" }) {
            if folder.status(of: name)?.isRegular == true, name.hasSuffix(".part") { continue }
            guard let bodies = try folder.entries(of: name) else { return name }
            for body in bodies.map({ "\(name)/\($0)" })
            where !BodyDigestCheck.isBody(body) || folder.status(of: body)?.isRegular != true {
                return body
            }
        }
        return nil
    }

    private static func isOfLog(_ name: String) -> Bool {
        name == "meta.json" || [".part", ".live", segmentEnding].contains(where: name.hasSuffix)
    }

    /// Creates the log's directory, unless it exists.
    ///
    /// - Throws: `NetworkError` of kind `.file` if the directory cannot be created, or contains other files.
    func make() throws(NetworkError) {
        try PrivateFile.makeDirectory(path)
        if meta.exists { return try check(meta.read()) }
        if let other = try names().first(where: { $0 != "bodies" && !Self.isOfLog($0) }) {
            throw NetworkError(
                .file,
                during: .file,
                "\(path) is not a log: it contains \(other)",
                advice: "use a directory that does not exist yet"
            )
        }
        var output = JSONOutput()
        output.object { output in
            output.member("format", Self.format)
            output.member("creator", "BeagleNet \(beagleNetVersion)")
            output.member("created", Timestamp.text(of: Date()))
        }
        try meta.write(String(decoding: output.bytes, as: UTF8.self) + "\n")
    }

    private func check(_ meta: String) throws(NetworkError) {
        guard let format = Self.format(of: meta), format > Self.format else { return }
        throw NetworkError(
            .file,
            during: .file,
            "\(path) has log format \(format), but this version writes format \(Self.format)",
            advice: "record into another directory"
        )
    }

    /// Returns the format that `meta.json` states; `nil` if it doesn't state one.
    static func format(of meta: String) -> Int? {
        guard let document = try? ParsedJSON(Array(meta.utf8)) else { return nil }
        return document.root["format"]?.integer.map { Int($0) }
    }
}

/// The side of an exchange to which a body belongs.
enum MessageSide: String, Sendable, CaseIterable {
    case request, response
}
