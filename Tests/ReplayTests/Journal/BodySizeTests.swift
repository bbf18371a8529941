import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The sizes of bodies and messages in a log.
@Suite(.timeLimit(.minutes(5))) struct BodySizeTests {
    private func logged(_ entry: LogEntry) async throws -> LogEntry {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            log.append(entry)
            await log.close()
            return try #require(try RequestLog.Reader.read(path).entries.first)
        }
    }

    @Test func omittedBodyKeepsItsSize() async throws {
        let text = Data(#"{"a":"\#(String(repeating: "b", count: 1_000))",,}"#.utf8)
        var sent = LogEntry.sample(body: text, mediaType: "application/json")
        sent.response?.bodyBytes = 900
        let entry = try await logged(sent)
        let response = try #require(entry.response)
        #expect(response.body.content == .omitted("unredactable"))
        #expect(response.body.size == Int64(text.count))
        #expect(response.bodyBytes == 900)
    }

    @Test func sizesAreThoseOfTheRedactedBody() async throws {
        let body = Data(#"{"password":"a secret of some length"}"#.utf8)
        let left = Int64(#"{"password":"REDACTED"}"#.utf8.count)
        var sent = LogEntry.sample(body: body, mediaType: "application/json")
        sent.request.body = LogEntry.Body(.data(body), mediaType: "application/json")
        sent.request.bodyBytes = Int64(body.count)
        sent.response?.bodyBytes = Int64(body.count)
        sent.request.fields = [LogEntry.Field("content-length", "\(body.count)")]
        sent.response?.fields.append(LogEntry.Field("Content-Length", "\(body.count)"))
        for entry in [try await logged(sent), sent.redacted(by: Redactor())] {
            #expect(entry.request.body?.size == left && entry.response?.body.size == left)
            #expect(entry.request.bodyBytes == left && entry.response?.bodyBytes == left)
            #expect(entry.request.fields["Content-Length"] == "\(left)")
            #expect(entry.response?.fields["Content-Length"] == "\(left)")
        }
    }

    @Test func formSizesAreThoseOfTheRedactedForm() async throws {
        var sent = LogEntry.sample()
        let fields = [
            LogEntry.Parameter(name: "password", value: "canary-canary"), LogEntry.Parameter(name: "a", value: "b"),
        ]
        let type = "application/x-www-form-urlencoded"
        sent.request.body = LogEntry.Body(.parameters(fields), mediaType: type, size: 26)
        sent.request.bodyBytes = 26
        sent.request.fields = [LogEntry.Field("Content-Length", "26")]
        let left = Int64("password=REDACTED&a=b".utf8.count)
        for entry in [try await logged(sent), sent.redacted(by: Redactor())] {
            #expect(entry.request.body?.size == left && entry.request.bodyBytes == left)
            #expect(entry.request.fields["Content-Length"] == "\(left)")
        }
    }

    @Test func redactionsOfMessagesAreListed() async throws {
        try await withLogDirectory { path in
            let log = try RequestLog(directory: path)
            let draft = LogJob.ClosureDraft(redactor: Redactor()) { .sample(url: "wss://a.example/") }
            let messages = [#"{"a":1}"#, #"{"token":"canary"}"#, #"{"password":"#].map { text in
                LogEntry.Message(.receive, at: Date(timeIntervalSince1970: 1), Data(text.utf8))
            }
            let work = [.start(draft)] + messages.map { LogJob.Work.message($0, Redactor()) } + [.end(draft)]
            for work in work { log.session.queue.add(LogJob(exchange: 1_000_000, work: work, bytes: 0)) }
            await log.close()
            let entry = try #require(try RequestLog.Reader.read(path).entries.first)
            #expect(entry.messages.count == 3)
            #expect(
                entry.redactions == [
                    "_webSocketMessages[1].data:$.token", "_webSocketMessages[2].data:[truncated]",
                ]
            )
        }
    }
}
