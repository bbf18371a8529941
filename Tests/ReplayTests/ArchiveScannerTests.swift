import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

struct ArchiveScannerTests {
    /// Scans a text that is fed in pieces. Returns its parts and the fault that ended the scan, if any.
    private func scan(_ pieces: [ArraySlice<UInt8>], limit: Int = 1 << 20) -> (parts: [ArchivePart], fault: JSONFault?)
    {
        var scanner = ArchiveScanner(limit: limit)
        var parts: [ArchivePart] = []
        do throws(JSONFault) {
            for piece in pieces {
                defer { parts += scanner.takeParts() }
                try Array(piece).withUnsafeBufferPointer { bytes throws(JSONFault) in try scanner.feed(bytes) }
            }
            try scanner.finish()
            return (parts + scanner.takeParts(), nil)
        } catch {
            return (parts, error)
        }
    }

    private func texts(_ parts: [ArchivePart]) -> [String] {
        parts.map { "\($0.path) = \(String(decoding: $0.bytes, as: UTF8.self))" }
    }

    private static let whole = """
        \u{FEFF}{ "comment" : "é", "log":{"version":"1.2", "cr\\u0065ator" : {"name":[1, {}]},"entries":
        [ {"a":"]}\\""} ,{}, 12, null ], "pages":[], "comment":null}, "x":1}\n
        """

    @Test func allArchiveLayoutsAreScanned() {
        let (parts, fault) = scan([Array(Self.whole.utf8)[...]])
        #expect(fault == nil)
        #expect(
            texts(parts) == [
                "$.comment = \"é\"", "$.log.version = \"1.2\"", "$.log.creator = {\"name\":[1, {}]}",
                "$.log.entries[0] = {\"a\":\"]}\\\"\"}", "$.log.entries[1] = {}", "$.log.entries[2] = 12",
                "$.log.entries[3] = null", "$.log.pages = []", "$.log.comment = null", "$.x = 1",
            ]
        )
        #expect(texts(scan([Array(#"{"entries":[{}],"a":2}"#.utf8)[...]]).parts) == ["$.entries[0] = {}", "$.a = 2"])
        #expect(texts(scan([Array("[{},[1]]".utf8)[...]]).parts) == ["$[0] = {}", "$[1] = [1]"])
        #expect(texts(scan([Array("[1,2]".utf8)[...]]).parts) == ["$[0] = 1", "$[1] = 2"])
    }

    @Test func partOffsetsPointAtTheirBytes() {
        let bytes = Array(Self.whole.utf8)
        for part in scan([bytes[...]]).parts {
            #expect(Array(bytes[part.offset...].prefix(part.bytes.count)) == part.bytes, "\(part.path)")
        }
    }

    @Test func splitInputGivesTheSameParts() {
        for text in [Self.whole, "[{\"a\":1},{}]", "{\"log\":{\"entries\":[{\"a\":tru}]}}"] {
            let bytes = Array(text.utf8)
            let whole = scan([bytes[...]])
            let single = scan(bytes.indices.map { bytes[$0...$0] })
            #expect(single == whole)
            for cut in bytes.indices {
                #expect(scan([bytes[..<cut], bytes[cut...]]) == whole, "cut at \(cut)")
            }
        }
    }

    private static let faultHasOffsetAndPathArguments: [(String, Int, String)] = [
        (#"{"log":{"entries":[{},{"time":1,"request":{"url":tru}}]}}"#, 49, "$.log.entries[1].request.url"),
        (#"{"log":{"entries":[{},{"time":1,"request":{"url":"ht"#, 52, "$.log.entries[1].request.url"),
        (#"{"log":{"version":1.2.3"#, 21, "$.log.version"), (#"{"entries":[{}"#, 14, "$.entries[1]"),
        (#"{"log":{"entries":[]}} x"#, 23, "$"), ("", 0, "$"),
    ]

    @Test(arguments: Self.faultHasOffsetAndPathArguments)
    func faultHasOffsetAndPath(_ text: String, _ offset: Int, _ path: String) {
        let bytes = Array(text.utf8)
        for pieces in [[bytes[...]], bytes.indices.map { bytes[$0...$0] }] {
            let fault = scan(pieces).fault
            #expect(fault?.offset == offset)
            #expect(fault?.path == path)
        }
    }

    @Test func partsBeforeAFaultAreReturned() {
        let bytes = Array(#"{"log":{"entries":[{"a":1},{"b":2},{"c"#.utf8)
        #expect(scan([bytes[...]]).parts.count == 2)
    }

    @Test func tooLargePartIsAFault() {
        let text = #"{"log":{"entries":[{},{"a":"\#(String(repeating: "x", count: 100))"}]}}"#
        let bytes = Array(text.utf8)
        let (parts, fault) = scan(bytes.indices.map { bytes[$0...$0] }, limit: 50)
        #expect(parts.count == 1)
        #expect(fault?.path == "$.log.entries[1]")
        #expect(fault?.reason == "larger than the 50 bytes allowed")
    }
}
