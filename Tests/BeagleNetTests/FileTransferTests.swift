import BeagleNet
import BeagleNetTesting
import Foundation
import Testing
import TestClients

@Suite(.beagle { $0.environment = .example }, .timeLimit(.minutes(5))) struct FileTransferTests {
    private let folder: URL
    private let path: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appending(path: "file").path(percentEncoded: false)
    }

    private func client(_ transport: ScriptedTransport) -> NetworkClientDefault {
        NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
    }

    private func content() throws -> String {
        try String(contentsOfFile: path, encoding: .utf8)
    }

    @Test func downloadIsWrittenAndReportsProgress() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let progress = Lock<[TransferRequest.Progress]>([])
        let transport = ScriptedTransport("12345", [.contentLength: "5"])
        let response = try await client(transport).download("/a", to: path) { step in
            progress.withLock { $0.append(step) }
        }
        #expect(response.response.status == .ok)
        #expect(response.data.isEmpty)
        #expect(try content() == "12345")
        #expect(try names() == ["file"])
        let expected = TransferRequest.Progress(bytesSent: 0, bytesToSend: 0, bytesReceived: 5, bytesToReceive: 5)
        #expect(progress.withLock { $0 } == [expected])
    }

    @Test func downloadHasOnlyTheGivenLimits() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let transport = ScriptedTransport()
        try await client(transport).download("/a", to: path)
        try await client(transport).download("/a", to: path, timeout: .seconds(3))
        let options = transport.requests.withLock { $0.map(\.options) }
        #expect(options.map(\.timeouts.total) == [nil, .seconds(3)])
        #expect(options.map(\.maxBodyBytes) == [nil, nil])
    }

    @Test func failedDownloadLeavesTheFileUnchanged() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("old".utf8).write(to: URL(filePath: path))
        let error = try await #require(throws: NetworkError.self) {
            try await client(ScriptedTransport(status: .notFound, "why")).download("/a", to: path)
        }
        #expect(error.kind == .status)
        #expect(error.data == Data("why".utf8))
        #expect(try content() == "old")
        #expect(try names() == ["file"])
    }

    @Test func truncatedDownloadLeavesNoPartialFile() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let transport = ScriptedTransport { request in
            let body = HTTPBody.stream {
                AsyncThrowingStream { continuation in
                    continuation.yield(Data("half".utf8))
                    continuation.finish(throwing: NetworkError(.truncated, during: .body, "cut short"))
                }
            }
            return .success(TransferResponse(head: HTTPResponse(status: .ok), body: body, url: request.head.urlText))
        }
        let error = try await #require(throws: NetworkError.self) {
            try await client(transport).download("/a", to: path)
        }
        #expect(error.kind == .truncated)
        #expect(try names().isEmpty)
    }

    @Test func missingFolderIsAFileError() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let error = try await #require(throws: NetworkError.self) {
            try await client(ScriptedTransport("x")).download("/a", to: path + "/no/such")
        }
        #expect(error.kind == .file)
        #expect(error.message.contains("/no: No such file"))
    }

    @Test func uploadSendsTheFileAndReportsProgress() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let bytes = Data(repeating: 7, count: 300_000)
        try bytes.write(to: URL(filePath: path))
        let transport = ScriptedTransport()
        let progress = Lock<[TransferRequest.Progress]>([])
        try await client(transport).upload(from: path, to: "/a", contentType: "image/png") { step in
            progress.withLock { $0.append(step) }
        }
        let request = try #require(transport.requests.withLock(\.first))
        #expect(request.head.method == .put)
        #expect(request.head.headerFields[.contentType] == "image/png")
        #expect(request.options.timeouts.total == nil)
        #expect(request.body?.length == 300_000)
        #expect(try await request.body?.collect() == bytes)
        #expect(try await request.body?.collect() == bytes)
        let steps = progress.withLock { $0 }
        // Both reads begin and end with a report; the reports in between depend on the machine's speed.
        #expect(steps.first?.bytesSent == 131_072)
        #expect(steps.last?.bytesSent == 300_000)
        #expect(steps.allSatisfy { $0.bytesToSend == 300_000 })
    }

    @Test func missingFileIsNotUploaded() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let transport = ScriptedTransport()
        let error = try await #require(throws: NetworkError.self) {
            try await client(transport).upload(from: path, to: "/a")
        }
        #expect(error.kind == .file)
        #expect(transport.requests.withLock(\.isEmpty))
    }
}
