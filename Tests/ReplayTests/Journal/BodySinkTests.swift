import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct BodySinkTests {
    private func sink(_ path: String, limit: Int, _ mediaType: String = "application/json") -> BodySink {
        var options = RequestLog.Options()
        options.maxBodyBytes = limit
        return BodySink(
            LogDirectory(path: path),
            options,
            partName: "bodies/s-1.part",
            redactor: Redactor(),
            mediaType: mediaType,
            at: "text"
        )
    }

    @Test(arguments: [100, 1_000, 40_000])
    func tooLongJSONIsTruncated(_ limit: Int) async throws {
        try await withLogDirectory { path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            let sink = sink(path, limit: limit)
            let text = #"{"password":"s3cr3t","a":["# + String(repeating: "12345678,", count: 10_000) + "0]}"
            let bytes = Data(text.utf8)
            for start in stride(from: 0, to: bytes.count, by: 512) {
                try sink.feed(bytes[start..<min(bytes.count, start + 512)])
            }
            let shown = Data(text.replacing("s3cr3t", with: "REDACTED").utf8).prefix(limit)
            switch try sink.finish(syncs: false) {
            case .data(let data): #expect(data == shown)
            case .file(let name): #expect(try contents("\(path)/\(name)") == shown)
            case let content: Issue.record("\(content)")
            }
            #expect(sink.isTruncated)
        }
    }

    @Test func cutJSONKeepsItsBeginning() throws {
        let sink = sink("/nowhere", limit: 1_000)
        try sink.feed(Data(#"{"a":1,"token":"#.utf8))
        sink.markTruncated()
        guard case .data(let data) = try sink.finish(syncs: false) else {
            Issue.record("no data was kept")
            return
        }
        #expect(Data(#"{"a":1,"token":"#.utf8).starts(with: data) && !data.isEmpty)
        #expect(sink.isTruncated)
    }

    @Test func invalidJSONIsOmitted() throws {
        let sink = sink("/nowhere", limit: 1_000)
        try sink.feed(Data(#"{"a": secret"#.utf8))
        #expect(try sink.finish(syncs: false) == .omitted("unredactable"))
    }
}
