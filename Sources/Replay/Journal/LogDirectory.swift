import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where everything of a log is: `meta.json`, the segments `000001.jsonl` and so on, `bodies`, and for each process that
/// writes a file `SESSION.live`, which it holds as long as it lives.
struct LogDirectory: Sendable {
    /// The format written here, and the newest that is understood.
    static let format = 1
    private static let segmentEnding = ".jsonl"

    let path: String

    var meta: String { "\(path)/meta.json" }
    var bodies: String { "\(path)/bodies" }

    func segment(_ number: Int) -> String {
        let digits = String(number)
        return "\(path)/\(String(repeating: "0", count: max(6 - digits.count, 0)))\(digits)\(Self.segmentEnding)"
    }

    func live(_ session: String) -> String { "\(path)/\(session).live" }

    /// The file of a body with this SHA-256, relative to the directory.
    func body(_ digest: String) -> String { "bodies/\(digest.prefix(2))/\(digest)" }

    /// The file of a body that is still coming, relative to the directory.
    func part(of entry: String, _ side: BodySide) -> String { "bodies/\(entry).\(side.rawValue).part" }

    /// The numbers of the segments that there are, in order.
    func segments() throws(NetworkError) -> [Int] {
        try names().compactMap { name in
            guard name.hasSuffix(Self.segmentEnding) else { return nil }
            // Only as they are written: another spelling of a number would be read as the file that has it.
            return Int32(name.dropLast(Self.segmentEnding.count)).flatMap { number in
                0 < number && number < .max && segment(Int(number)) == "\(path)/\(name)" ? Int(number) : nil
            }
        }.sorted()
    }

    func names() throws(NetworkError) -> [String] {
        try Self.names(in: path)
    }

    static func names(in path: String) throws(NetworkError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw NetworkError(.file, during: .file, "cannot read the directory \(path)", underlying: error)
        }
    }

    /// Makes the directory a log where it is none yet.
    ///
    /// - Throws: `NetworkError` of kind `.file` where it cannot be made or holds other things.
    func make() throws(NetworkError) {
        try PrivateFile.makeDirectory(path)
        let meta = PrivateFile(path: meta)
        if meta.exists { return try check(meta.read()) }
        let others = try names().filter { name in
            !name.hasSuffix(".part") && !name.hasSuffix(".live") && !name.hasSuffix(Self.segmentEnding)
                && name != "bodies" && name != "meta.json"
        }
        if let other = others.first {
            throw NetworkError(
                .file,
                during: .file,
                "\(path) is no log: it holds \(other)",
                advice: "name a directory that is not there yet"
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
            "\(path) was written in format \(format), and this version writes \(Self.format)",
            advice: "record into another directory"
        )
    }

    /// The format that `meta.json` tells; nil where it does not.
    static func format(of meta: String) -> Int? {
        guard let document = try? JSONDocument(Array(meta.utf8)) else { return nil }
        return document.root["format"]?.integer.map { Int($0) }
    }
}

/// Which message of an exchange a body belongs to.
enum BodySide: String, Sendable, CaseIterable {
    case request, response
}
