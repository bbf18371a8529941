import BeagleNet
import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite(.timeLimit(.minutes(5))) struct TransferRecorderTests {
    private let head = HTTPRequest(method: .put, scheme: "https", authority: "a.example", path: "/it")

    private func begun(_ log: RequestLog, _ body: HTTPBody? = nil) -> TransferRecorder {
        let recorder = TransferRecorder(log, TransferRecorder.Context())
        var transfer = TransferRequest(head, body: body)
        recorder.begin(&transfer)
        return recorder
    }

    private func it(_ path: String) throws -> LogEntry? {
        try RequestLog.Reader.read(path).entries.first { $0.request.url.hasSuffix("/it") }
    }

    @Test func recorderOfAStreamedUploadIsReleased() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            weak var left: TransferRecorder?
            do {
                let stream = HTTPBody.stream(length: 3) { AsyncStream<Data> { $0.finish() } }
                let recorder = begun(log, stream)
                recorder.end(NetworkResponse(text: "ok"))
                left = recorder
            }
            await log.close()
            #expect(left == nil)
        }
    }

    @Test func streamIsOmittedIfTheQueueIsFull() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            let recorder = begun(log)
            await log.flush()
            let body = HTTPBody.stream(length: 4) {
                AsyncStream { continuation in
                    continuation.yield(Data("body".utf8))
                    continuation.finish()
                }
            }
            var stream = StreamingResponse(response: HTTPResponse(status: .ok), body: body)
            stream.body = body
            log.whileWriterWaits { queue in
                queue.fill(leaving: 0)
                stream = recorder.receive(stream)
            }
            await log.flush()
            #expect(try await stream.body.collect() == Data("body".utf8))
            await log.flush()
            let logged = try #require(try it(path)?.response?.body)
            #expect(logged.content == .omitted("not written"))
            #expect(logged.size == 4)
            withExtendedLifetime(log) {}
        }
    }

    @Test func transportThreadDoesNotWaitForTheDisk() async throws {
        try await withLogDirectory { path in
            var options = RequestLog.Options()
            options.isLossless = true
            let log = try RequestLog(directory: path, options: options)
            let recorder = TransferRecorder(log, TransferRecorder.Context())
            var transfer = TransferRequest(head)
            recorder.begin(&transfer)
            let streamed = begun(log)
            log.whileWriterWaits { queue in
                queue.fill(leaving: 0)
                transfer.onHop?(HTTPResponse(status: .found), TransferMetrics(), TransferRequest(head))
                recorder.end(NetworkError(.timeout, during: .body, "nothing came"))
                let body = HTTPBody.stream { AsyncStream<Data> { $0.finish() } }
                _ = streamed.receive(StreamingResponse(response: HTTPResponse(status: .ok), body: body))
            }
            await log.flush()
            let entries = try RequestLog.Reader.read(path, includesInFlight: true).entries.filter {
                $0.request.url.hasSuffix("/it")
            }
            #expect(entries.map { $0.response?.status } == [302, 200, nil])
            withExtendedLifetime(log) {}
        }
    }

    @Test(arguments: [true, false])
    func responseFileIsRecordedOnlyIfUnchanged(_ isChanged: Bool) async throws {
        try await withLogDirectory { path in
            let file = "\(path).txt"
            try Data("answer".utf8).write(to: URL(fileURLWithPath: file))
            let log = try RequestLog(directory: path)
            let recorder = begun(log)
            var metrics = TransferMetrics()
            metrics.decodedBytes = 6
            log.whileWriterWaits { _ in
                recorder.end(NetworkResponse(metrics: metrics), .file(path: file))
                guard isChanged else { return }
                do { try Data("somebody else's".utf8).write(to: URL(fileURLWithPath: file)) } catch {
                    Issue.record(error)
                }
            }
            await log.flush()
            let content = try it(path)?.response?.body.content
            #expect(content == (isChanged ? .omitted("the file has changed") : .data(Data("answer".utf8))))
            withExtendedLifetime(log) {}
        }
    }

    @Test func messagesAreWrittenRedacted() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            let recorder = begun(log)
            for opcode in [1, 2] { recorder.record(.send, opcode, Data(#"{"password":"c4n4ry"}"#.utf8)) }
            recorder.end(nil, nil)
            await log.close()
            let redacted = Data(#"{"password":"REDACTED"}"#.utf8)
            #expect(try it(path)?.messages.map(\.data) == [redacted, redacted])
        }
    }

    @Test func longMessageIsTruncated() async throws {
        try await withLogDirectory { path in
            var options = RequestLog.Options()
            options.maxBodyBytes = 4
            let log = try RequestLog(directory: path, options: options)
            let recorder = begun(log)
            recorder.record(.receive, 1, Data("abcé".utf8))
            recorder.record(.receive, 1, Data("abcd".utf8))
            recorder.record(.receive, 2, Data([1, 2, 3, 0xC3, 0x84]))
            recorder.end(nil, nil)
            await log.flush()
            let messages = try it(path)?.messages.map(\.data)
            #expect(messages == [Data("abc".utf8), Data("abcd".utf8), Data([1, 2, 3, 0xC3])])
            withExtendedLifetime(log) {}
        }
    }

    @Test func veryLongMessageIsReadTruncated() async throws {
        try await withLogDirectory { path in
            var options = RequestLog.Options()
            options.maxBodyBytes = 64 << 20
            let log = try RequestLog(directory: path, options: options)
            let recorder = begun(log)
            // Larger than the queue: accepted because it is alone.
            await log.flush()
            recorder.record(.receive, 2, Data(count: 50 << 20))
            await log.flush()
            recorder.end(nil, nil)
            await log.flush()
            let (entries, warnings) = try RequestLog.Reader.read(path)
            #expect(warnings == [])
            #expect(entries.first?.messages.map(\.data.count) == [LogLines.maxTextBytes])
            withExtendedLifetime(log) {}
        }
    }
}
