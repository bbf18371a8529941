import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct LogEntryTests {
    private func written(_ entry: LogEntry) -> [UInt8] {
        var output = JSONOutput()
        entry.write(to: &output)
        return output.bytes
    }

    @Test func writtenEntryIsReadBackUnchanged() throws {
        let entry = LogEntry(
            id: "s-1",
            started: Date(timeIntervalSince1970: 1_795_335_330.5),
            request: LogEntry.Request(
                method: "POST",
                url: "https://api.example.com/a?b=c%20d&e",
                httpVersion: "HTTP/1.1",
                fields: [LogEntry.Field("Cookie", "a=REDACTED; b=REDACTED"), LogEntry.Field("X", "\u{1}\"é")],
                body: LogEntry.Body(.data(Data([0xFF, 0x00])), mediaType: "application/octet-stream"),
                headBytes: 99,
                bodyBytes: 2
            ),
            response: LogEntry.Response(
                status: 302,
                statusText: "Found",
                httpVersion: "HTTP/1.1",
                fields: [
                    LogEntry.Field("Set-Cookie", "a=REDACTED; Path=/; HttpOnly; Expires=Sun, 06 Nov 1994 08:49:37 GMT")
                ],
                body: LogEntry.Body(.file("bodies/ab/abcd"), mediaType: "text/html", size: 20_000, isTruncated: true),
                redirectURL: "https://api.example.com/b",
                headBytes: 120,
                bodyBytes: 900,
                trailers: [LogEntry.Field("Digest", "x")],
                interim: [LogEntry.Head(status: 103, fields: [LogEntry.Field("Link", "</a>")])]
            ),
            timings: LogEntry.Timings(
                blocked: .microseconds(1500),
                send: .zero,
                wait: .milliseconds(7),
                receive: .microseconds(1)
            ),
            serverAddress: "127.0.0.1",
            connection: "3",
            kind: "form",
            operationName: "SignUp",
            attempt: 2,
            redirects: 1,
            parent: "s-0",
            redactions: ["request.headers.Cookie"],
            messages: [LogEntry.Message(.receive, at: Date(timeIntervalSince1970: 2), Data("{}".utf8))],
            unknownMembers: [LogEntry.UnknownMember(place: "response.content", name: "_later", json: #"{"a": 1.10}"#)]
        )
        #expect(LogEntry(try ParsedJSON(written(entry)).root) == entry)
    }

    @Test func entryWithoutAResponseIsReadBackUnchanged() throws {
        let entry = LogEntry(
            started: Date(timeIntervalSince1970: 0),
            request: LogEntry.Request(method: "GET", url: "https://a.example/"),
            timings: LogEntry.Timings(send: .zero, wait: .zero, receive: .zero),
            error: "timeout"
        )
        let document = try ParsedJSON(written(entry))
        #expect(document.root["response"]?["status"]?.integer == 0)
        #expect(LogEntry(document.root) == entry)
    }

    @Test func resourceTypeOfAnotherToolIsKept() throws {
        let theirs = try ParsedJSON(Array(#"{"_resourceType":"stylesheet","request":{}}"#.utf8))
        let again = try ParsedJSON(written(LogEntry(theirs.root)))
        #expect(again.root["_resourceType"]?.string == "stylesheet")
        var ours = LogEntry(again.root)
        ours.kind = "image"
        #expect(try ParsedJSON(written(ours)).root.members.count { $0.name == "_resourceType" } == 1)
        ours.unknownMembers = []
        let kept = LogEntry(try ParsedJSON(written(ours)).root)
        #expect(kept.kind == "image")
        #expect(kept.unknownMembers == [])
    }

    @Test(arguments: ["1e300", "-1e300", "1e14", "null"])
    func messageWithAnInvalidTimeStartsAtTheEpoch(_ time: String) throws {
        let node = try ParsedJSON(Array(#"{"type":"send","opcode":1,"data":"","time":\#(time)}"#.utf8)).root
        #expect(LogEntry.Message(node).time == Date(timeIntervalSince1970: 0))
    }

    @Test func membersThatReadersNeedAreWritten() throws {
        let root = try ParsedJSON(
            written(
                LogEntry(
                    started: Date(timeIntervalSince1970: 0),
                    request: LogEntry.Request(method: "GET", url: "https://a.example/?a=b+c%C3%A9"),
                    response: LogEntry.Response(status: 200),
                    timings: LogEntry.Timings(
                        connect: .microseconds(2),
                        tls: .milliseconds(3),
                        wait: .nanoseconds(1_234_500)
                    )
                )
            )
        ).root
        #expect(root["time"]?.numberText == "4.235")
        #expect(
            root["timings"]?.members.map { "\($0.name)=\($0.value.numberText ?? "")" } == [
                "blocked=-1", "dns=-1", "connect=0.002", "ssl=3", "send=0", "wait=1.235", "receive=0",
            ]
        )
        #expect(root["request"]?["queryString"]?.elements.map { $0["value"]?.string } == ["b cé"])
        #expect(root["cache"]?.kind == .object)
    }
}
