import BeagleNet
import BeagleNetHTTP
import BeagleNetReplay
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct ReplayTransportTests {
    private func perform(
        _ entry: LogEntry,
        _ message: TransferRequest = Exchanges.message("GET", "/a")
    ) async throws(NetworkError) -> TransferResponse {
        try await ReplayTransport(Recording([entry])).perform(message)
    }

    @Test func responseIsReplayedAsRecorded() async throws {
        var entry = Exchanges.entry(
            "GET",
            "/a",
            status: 418,
            type: "text/plain",
            answer: "teapot",
            answerFields: [
                LogEntry.Field("Set-Cookie", "a=REDACTED"), LogEntry.Field("set-cookie", "b=REDACTED"),
                LogEntry.Field(":status", "418"),
            ],
            timings: LogEntry.Timings(dns: .milliseconds(1), connect: .milliseconds(2), wait: .milliseconds(3))
        )
        entry.response?.statusText = "I'm a teapot"
        entry.response?.httpVersion = "HTTP/2"
        entry.response?.trailers = [LogEntry.Field("Digest", "x")]
        entry.response?.interim = [LogEntry.Head(status: 103, fields: [LogEntry.Field("Link", "</a>")])]
        entry.serverAddress = "127.0.0.1"
        let response = try await perform(entry)
        #expect(response.head.status == .init(code: 418))
        #expect(response.head.status.reasonPhrase == "I'm a teapot")
        #expect(response.head.headerFields.map(\.name.rawName) == ["Content-Type", "Set-Cookie", "set-cookie"])
        #expect(response.body.data == Data("teapot".utf8))
        #expect(response.url == "https://api.example.com/a")
        #expect(response.trailers == [HTTPField.Name("Digest")!: "x"])
        #expect(response.interim.map(\.status.code) == [103])
        #expect(response.metrics.protocolName == "HTTP/2")
        #expect(response.metrics.remoteAddress == "127.0.0.1")
        #expect(response.metrics.firstByte == .milliseconds(6))
    }

    @Test func codingFieldsAreRemovedAndLengthIsThatOfTheDecodedBody() async throws {
        let coded = [
            LogEntry.Field("Content-Encoding", "gzip"), LogEntry.Field("Transfer-Encoding", "chunked"),
            LogEntry.Field("Content-Length", "3"), LogEntry.Field("ETag", "\"1\""),
        ]
        let response = try await perform(Exchanges.entry("GET", "/a", answer: "decoded", answerFields: coded))
        #expect(response.head.headerFields == [.contentType: "text/plain", .contentLength: "7", .eTag: "\"1\""])
    }

    @Test func headRequestKeepsTheLengthAndHasNoBody() async throws {
        let coded = [LogEntry.Field("Content-Length", "30"), LogEntry.Field("Content-Encoding", "gzip")]
        let response = try await perform(
            Exchanges.entry("HEAD", "/a", answer: "junk", answerFields: coded),
            Exchanges.message("HEAD", "/a")
        )
        #expect(response.head.headerFields[.contentLength] == "30")
        #expect(response.head.headerFields[.contentEncoding] == "gzip")
        #expect(response.body.data == Data())
    }

    @Test(arguments: [204, 304]) func bodylessStatusesHaveNoBody(_ status: Int) async throws {
        let entry = Exchanges.entry(
            "GET",
            "/a",
            status: status,
            answer: "junk",
            answerFields: [LogEntry.Field("Content-Length", "30")]
        )
        let response = try await perform(entry)
        #expect(response.status.code == status)
        #expect(response.body.data == Data())
    }

    // MARK: - Failures

    @Test func recordedFailureIsReproduced() async {
        var entry = Exchanges.entry("GET", "/a")
        entry.response = nil
        entry.error = "timeout: no answer within 60 s: sorry"
        await #expect { try await self.perform(entry) } throws: { error in
            let error = error as? NetworkError
            return error?.kind == .timeout && error?.message == "no answer within 60 s: sorry"
                && error?.request?.path == "/a"
        }
    }

    private static let archiveErrorTextIsTheMessageArguments: [(String?, NetworkError.Kind)] = [
        (nil, NetworkError.Kind.network), ("net::ERR_FAILED", .network), ("Something: broke", .network),
        ("timeout", .timeout), ("", .network), (":", .network),
    ]

    @Test(arguments: Self.archiveErrorTextIsTheMessageArguments)
    func archiveErrorTextIsTheMessage(_ error: String?, _ kind: NetworkError.Kind) async {
        for status in [0, -1] {
            var entry = Exchanges.entry("GET", "/a", status: status)
            entry.error = error
            await #expect { try await self.perform(entry) } throws: { thrown in
                let thrown = thrown as? NetworkError
                return thrown?.kind == kind && (error == nil || thrown?.message == error)
            }
        }
    }

    @Test func interruptedEntryFailsAfterItsRecordedBytes() async throws {
        var entry = Exchanges.entry("GET", "/a", answer: "beginn")
        entry.isInterrupted = true
        entry.response?.body.isTruncated = true
        await #expect { try await self.perform(entry) } throws: { error in
            let error = error as? NetworkError
            return error?.kind == .truncated && error?.response?.status == .ok
        }
        var message = Exchanges.message("GET", "/a")
        message.delivery = .stream
        let response = try await perform(entry, message)
        var text = ""
        await #expect {
            for try await chunk in response.body { text += String(decoding: chunk, as: UTF8.self) }
        } throws: { ($0 as? NetworkError)?.kind == .truncated }
        #expect(text == "beginn")
    }

    @Test func unrecordedBodyIsAnErrorUnlessItMayBeEmpty() async throws {
        var entry = Exchanges.entry("GET", "/a")
        entry.response?.body = LogEntry.Body(.omitted("unredactable"), size: 12)
        await #expect { try await self.perform(entry) } throws: { error in
            let error = error as? NetworkError
            return error?.kind == .notInRecording && error?.message.contains("unredactable") == true
        }
        entry.response?.body = LogEntry.Body(.omitted("unknown"), size: 0)
        #expect(try await perform(entry).body.data == Data())
        entry.response?.body = LogEntry.Body(.omitted("unknown"))
        #expect(try await perform(entry).body.data == Data())
    }

    @Test func bodyLimitOfTheRequestApplies() async throws {
        for delivery in [TransferRequest.Delivery.collect, .stream] {
            var message = Exchanges.message("GET", "/a")
            message.options.maxBodyBytes = 4
            message.delivery = delivery
            let exact = try await perform(Exchanges.entry("GET", "/a", answer: "four"), message)
            #expect(try await exact.body.collect() == Data("four".utf8))
            await #expect {
                _ = try await self.perform(Exchanges.entry("GET", "/a", answer: "five!"), message).body.collect()
            } throws: {
                ($0 as? NetworkError)?.kind == .tooLarge
            }
        }
    }

    // MARK: - Redirects

    private static let chain = [
        Exchanges.entry(
            "POST",
            "/a",
            body: Exchanges.form("a=1"),
            status: 302,
            answerFields: [LogEntry.Field("Location", "/b?token=REDACTED")]
        ),
        Exchanges.entry(
            "GET",
            "/b?token=REDACTED",
            status: 301,
            answerFields: [LogEntry.Field("Location", "https://other.example/c")],
            at: 1
        ),
        Exchanges.entry("GET", "https://other.example/c", answer: "there", at: 2),
    ]

    @Test func recordedRedirectsAreFollowed() async throws {
        let transport = ReplayTransport(Recording(Self.chain))
        let response = try await transport.perform(Exchanges.message("POST", "/a", body: Exchanges.form("a=1")))
        #expect(response.body.data == Data("there".utf8))
        #expect(response.url == "https://other.example/c")
        #expect(response.metrics.redirects == 2)
        #expect(response.metrics.hops.map(\.status) == [302, 301])
        try transport.assertAllUsed()
    }

    @Test func redirectPolicyOfTheRequestApplies() async throws {
        let message = Exchanges.message("POST", "/a", body: Exchanges.form("a=1"))
        var manual = message
        manual.options.redirects = .manual
        #expect(try await ReplayTransport(Recording(Self.chain)).perform(manual).status == .found)
        var one = message
        one.options.redirects = TransferOptions.RedirectPolicy(limit: 1)
        await #expect { try await ReplayTransport(Recording(Self.chain)).perform(one) } throws: {
            ($0 as? NetworkError)?.kind == .tooManyRedirects
        }
    }

    @Test func redirectToAnUnrecordedURLIsAMiss() async {
        await #expect {
            try await ReplayTransport(Recording([Self.chain[0]]))
                .perform(Exchanges.message("POST", "/a", body: Exchanges.form("a=1")))
        } throws: { error in
            let error = error as? NetworkError
            return error?.kind == .notInRecording && error?.request?.path == "/b?token=REDACTED"
        }
    }

    @Test func redirectURLIsUsedWithoutALocation() async throws {
        var entry = Exchanges.entry("GET", "/a", status: 302)
        entry.response?.redirectURL = "/b"
        let transport = ReplayTransport(Recording([entry, Exchanges.entry("GET", "/b", answer: "there")]))
        #expect(await transport.text(Exchanges.message("GET", "/a")) == "there")
    }

    // MARK: - Deliveries

    @Test func eventsAreDeliveredOneByOne() async throws {
        var entry = Exchanges.entry("GET", "/a", type: "text/event-stream; charset=utf-8")
        entry.response?.body = LogEntry.Body(.omitted("stream"), size: 20)
        entry.messages = ["data: 1", "id: 7\ndata: 2"].map {
            LogEntry.Message(.receive, at: Date(timeIntervalSince1970: 0), Data($0.utf8))
        }
        var message = Exchanges.message("GET", "/a")
        message.delivery = .stream
        let response = try await perform(entry, message)
        var chunks: [String] = []
        for try await chunk in response.body { chunks.append(String(decoding: chunk, as: UTF8.self)) }
        #expect(chunks == ["data: 1\n\n", "id: 7\ndata: 2\n\n"])
        #expect(await ReplayTransport(Recording([entry])).text(Exchanges.message("GET", "/a")) == chunks.joined())
    }

    @Test func trailersAreAvailableAfterTheStreamEnds() async throws {
        for text in ["", "body"] {
            var entry = Exchanges.entry("GET", "/a", answer: text)
            entry.response?.trailers = [LogEntry.Field("Digest", "x")]
            var message = Exchanges.message("GET", "/a")
            message.delivery = .stream
            let response = try await perform(entry, message)
            #expect(response.trailers == [:])
            #expect(try await response.body.collect() == Data(text.utf8))
            #expect(response.trailers == [HTTPField.Name("Digest")!: "x"])
        }
    }

    @Test func bodyIsWrittenToAFileUnlessTheStatusIsAnError() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var message = Exchanges.message("GET", "/a")
        message.delivery = .file(path: path)
        let refused = try await perform(Exchanges.entry("GET", "/a", status: 404, answer: "no"), message)
        #expect(refused.body.data == Data("no".utf8))
        #expect(!FileManager.default.fileExists(atPath: path))
        _ = try await perform(Exchanges.entry("GET", "/a", answer: "yes"), message)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("yes".utf8))
    }

    /// A streamed body file of five megabytes is never completely in memory.
    @Test func bodyFileIsReadInPieces() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let bytes = Data((0..<5 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 11) })
        try bytes.write(to: folder.appending(path: "body"))
        var entry = Exchanges.entry("GET", "/a", answerFields: [LogEntry.Field("Content-Length", "1")])
        entry.response?.body = LogEntry.Body(.file("body"), size: Int64(bytes.count))
        let transport = ReplayTransport(Recording([entry], directory: folder.path))

        var message = Exchanges.message("GET", "/a")
        message.delivery = .stream
        let response = try await transport.perform(message)
        #expect(response.head.headerFields[.contentLength] == "\(bytes.count)")
        var (received, largest) = (Data(), 0)
        for try await chunk in response.body {
            received += chunk
            largest = max(largest, chunk.count)
        }
        #expect(received == bytes)
        #expect(largest <= 128 << 10)
        message.delivery = .collect
        #expect(try await transport.perform(message).body.data == bytes)
    }

    @Test func progressIsReportedUpToTheEnd() async throws {
        let bytes = String(repeating: "x", count: 200_000)
        let reports = Lock<[TransferRequest.Progress]>([])
        var message = Exchanges.message("GET", "/a")
        message.onProgress = { progress in reports.withLock { $0.append(progress) } }
        _ = try await perform(Exchanges.entry("GET", "/a", answer: bytes), message)
        let last = reports.withLock { $0.last }
        #expect(last?.bytesReceived == 200_000)
        #expect(last?.bytesToReceive == 200_000)
        #expect(reports.withLock { $0.map(\.bytesReceived) == $0.map(\.bytesReceived).sorted() && $0.count > 2 })
    }

    @Test func cancellingBeforeTheResponseReportsCancelledOnce() async {
        let transport = ReplayTransport(Recording([Exchanges.entry("GET", "/a")]))
        for _ in 0..<200 {
            let kinds = await withCheckedContinuation { continuation in
                let token = transport.perform(Exchanges.message("GET", "/a")) { result in
                    // A second call would trap.
                    continuation.resume(returning: result)
                }
                token.cancel()
                token.cancel()
            }
            if case .failure(let error) = kinds { #expect(error.isCancelled) }
        }
    }
}
