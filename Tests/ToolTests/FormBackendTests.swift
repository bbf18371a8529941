import BeagleNet
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

/// Forms of the library, submitted to the demo backend.
@Suite(.beagle(.live), .timeLimit(.minutes(5))) struct FormBackendTests {
    private var client: any NetworkClient { Beagle.dependencies.networkClient }

    private func form(_ email: String, encoding: Request.FormData.Encoding = .json, hasKey: Bool = false) -> Form {
        Form(
            [Form.Input("name", "Ana", isRequired: true), Form.Input("email", .text(email)), Form.Input("age", 30)],
            encoding: encoding,
            sendsIdempotencyKey: hasKey
        )
    }

    @Test(
        arguments: [Request.FormData.Encoding.json, .urlEncoded, .multipart],
        [
            [:], ["Accept": "application/problem+json"],
        ]
    )
    func rejectedInputsAreReported(_ encoding: Request.FormData.Encoding, _ headers: [String: String]) async throws {
        try await withBackend { url in
            let form = form("x", encoding: encoding)
            let refusal = try await client.submit(form, to: "\(url)/signup", headers: headers)
            #expect(refusal.response?.status.code == 422)
            #expect(
                refusal.errors == [
                    Form.FieldError(field: "email", message: "must be an address such as ana@example.com")
                ]
            )
            form["email"] = "ana@example.com"
            let reply = try await client.submit(form, to: "\(url)/signup", headers: headers)
            #expect(reply.response?.status.code == 201)
            #expect(reply.content == .json(["id": 7]))
        }
    }

    @Test func successMayHaveNoContent() async throws {
        try await withBackend { url in
            let reply = try await client.submit(Form([Form.Input("text", "good")]), to: "\(url)/feedback")
            #expect(reply.content == .empty)
            #expect(reply.response?.status.code == 204)
        }
    }

    /// The backend has already created the account when the connection is lost.
    @Test func lostResponseIsRetriedOnlyWithAnIdempotencyKey() async throws {
        try await withBackend { url in
            let error = await #expect(throws: NetworkError.self) {
                try await client.submit(form("ana@example.com"), to: "\(url)/signup?answer=lost")
            }
            #expect(error?.mayHaveReachedServer == true)
            let keyed = try await client.submit(
                form("ana@example.com", hasKey: true),
                to: "\(url)/signup?answer=lost"
            )
            #expect(keyed.content == .json(["id": 8]))
            #expect(try await client.submit(form("ana@example.com"), to: "\(url)/signup").content == .json(["id": 9]))
        }
    }

    @Test func invalidPhotoIsReportedForItsInput() async throws {
        try await withBackend { url in
            let form = form("ana@example.com", encoding: .multipart)
            form["photo"] = .file(FormFile(Data("x".utf8), filename: "a.txt", contentType: "text/plain"))
            let reply = try await client.submit(form, to: "\(url)/signup")
            #expect(reply.messages(for: "photo") == ["must be an image"])
        }
    }

    @Test func aLargeFileArrivesWithItsProgress() async throws {
        try await withDirectory { directory in
            let (path, size) = ("\(directory)/large", 50 << 20)
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: UInt64(size))
            try await withBackend { url in
                let steps = Lock<[TransferRequest.Progress]>([])
                let form = Form(
                    [Form.Input("title", "ü"), Form.Input("file", .file(FormFile(path: path)))],
                    encoding: .multipart
                )
                let reply = try await client.submit(form, to: "\(url)/upload") { step in
                    steps.withLock { $0.append(step) }
                }
                guard case .json(let received) = reply.content else { throw CancellationError() }
                #expect(received["parts"]?[0] == ["name": "title", "bytes": 2, "value": "ü"])
                #expect(received["parts"]?[1]?["bytes"] == .integer(Int64(size)))
                #expect(received["parts"]?[1]?["filename"] == "large")
                let sent = steps.withLock { $0.map(\.bytesSent) }
                #expect(sent == sent.sorted() && sent.count > 1)
                let last = try #require(steps.withLock { $0.last })
                #expect(last.bytesSent == last.bytesToSend && last.bytesSent > Int64(size))
            }
        }
    }
}
