import BeagleNetHTTP
import Testing

/// The clauses are those of https://html.spec.whatwg.org/multipage/server-sent-events.html, 9.2.5 and 9.2.6.
struct EventStreamTests {
    private typealias Event = EventStream.Event

    /// The result of parsing a text in pieces.
    private struct Reading: Equatable {
        var events: [Event] = []
        var lastEventID = ""
        var retry: Duration?
        var kind: NetworkError.Kind?

        init(_ pieces: [Data], maxEventBytes: Int = 1 << 20) {
            var stream = EventStream(maxEventBytes: maxEventBytes)
            do throws(NetworkError) {
                for piece in pieces {
                    stream.feed(piece)
                    while let event = try stream.next() { events.append(event) }
                }
            } catch {
                kind = error.kind
            }
            lastEventID = stream.lastEventID
            retry = stream.retry
        }
    }

    /// Parses the whole text, and expects the same result for every split and byte by byte.
    private func read(_ bytes: Data, maxEventBytes: Int = 1 << 20) -> Reading {
        let whole = Reading([bytes], maxEventBytes: maxEventBytes)
        for place in 0...bytes.count {
            let parts = Reading([bytes.prefix(place), bytes.dropFirst(place)], maxEventBytes: maxEventBytes)
            #expect(parts == whole, "split at \(place)")
        }
        #expect(Reading(bytes.map { Data([$0]) }, maxEventBytes: maxEventBytes) == whole, "a byte at a time")
        return whole
    }

    private static let eventsAreParsedAtEverySplitArguments: [(String, [(String, String, String)])] = [
        ("", []),
        ("data: a\n\n", [("message", "a", "")]),
        // Lines end with CRLF, LF or CR (9.2.5).
        (
            "data: a\r\n\r\ndata: b\r\rdata: c\n\ndata: d\r\n\n",
            [
                ("message", "a", ""), ("message", "b", ""), ("message", "c", ""), ("message", "d", ""),
            ]
        ),
        ("data: a\n\rdata: b\r\n\r", [("message", "a", ""), ("message", "b", "")]),
        // One byte order mark is allowed at the beginning (9.2.5).
        ("\u{FEFF}data: a\n\n", [("message", "a", "")]),
        ("\u{FEFF}\u{FEFF}data: a\n\n", []),
        ("\n\u{FEFF}data: a\n\n", []),
        // The examples of 9.2.6.
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            [
                ("message", "first event", "1"), ("message", "second event", ""), ("message", " third event", ""),
            ]
        ),
        ("data\n\ndata\ndata\n\ndata:", [("message", "", ""), ("message", "\n", "")]),
        ("data:test\n\ndata: test\n\n", [("message", "test", ""), ("message", "test", "")]),
        ("data: YHOO\ndata: +2\ndata: 10\n\n", [("message", "YHOO\n+2\n10", "")]),
        // A type applies to one event. Without data there is no event, and the type is discarded.
        ("event: add\ndata: 1\n\ndata: 2\n\n", [("add", "1", ""), ("message", "2", "")]),
        ("event: add\n\ndata: 2\n\n", [("message", "2", "")]),
        ("event: add\nevent: \ndata: 2\n\n", [("message", "2", "")]),
        // An id applies until the next one. An id with NUL is ignored.
        (
            "id: 1\ndata: a\n\ndata: b\n\nid: 2\0\ndata: c\n\nid:\ndata: d\n\n",
            [
                ("message", "a", "1"), ("message", "b", "1"), ("message", "c", "1"), ("message", "d", ""),
            ]
        ),
        // Names are case-sensitive. Unknown names are ignored.
        ("Data: a\ndata : b\n data: c\nfoo: d\ndata:e:f\n\n", [("message", "e:f", "")]),
        (":\n:data: a\n::\n\n", []),
        // An event without its final empty line is discarded.
        ("data: a\n", []), ("data: a\n\ndata: b", [("message", "a", "")]),
        ("data: é😀\n\n", [("message", "é😀", "")]),
        ("data: a\0b\n\n", [("message", "a\0b", "")]),
    ]

    @Test(arguments: Self.eventsAreParsedAtEverySplitArguments)
    func eventsAreParsedAtEverySplit(text: String, expected: [(type: String, data: String, id: String)]) {
        let reading = read(Data(text.utf8))
        #expect(reading.events == expected.map { Event(type: $0.type, data: $0.data, id: $0.id) })
        #expect(reading.kind == nil)
    }

    @Test func invalidUTF8IsReplaced() {
        let reading = read(Data("data: a".utf8) + [0xFF, 0xE2, 0x82] + Data("b\n\n".utf8))
        #expect(reading.events.map(\.data) == ["a\u{FFFD}\u{FFFD}b"])
    }

    private static let lastEventIDIsSetAtTheEndOfAnEventArguments: [(String, String)] = [
        ("id: 1\n", ""), ("id: 1\n\n", "1"), ("id: 1\ndata: a\n\nid: 2\n", "1"), ("id: 1\n\nid\n\n", ""),
        ("id: 1\n\nid: 2\0\n\n", "1"), ("id:  1 \n\n", " 1 "),
    ]

    @Test(arguments: Self.lastEventIDIsSetAtTheEndOfAnEventArguments)
    func lastEventIDIsSetAtTheEndOfAnEvent(text: String, expected: String) {
        #expect(read(Data(text.utf8)).lastEventID == expected)
    }

    @Test func resumedStreamStartsWithThePreviousLastEventID() throws {
        var stream = EventStream(lastEventID: "7")
        #expect(stream.lastEventID == "7")
        stream.feed(Data("data: a\n\nid: 8\ndata: b\n\n".utf8))
        #expect(try stream.next() == Event(data: "a", id: "7"))
        #expect(try stream.next() == Event(data: "b", id: "8"))
        #expect(try stream.next() == nil)
    }

    private static let retryIsParsedAsMillisecondsArguments: [(String, Duration?)] = [
        ("retry: 3000\n", .seconds(3)), ("retry:0\n", .zero), ("retry: 007\n", .milliseconds(7)),
        ("retry: 1\nretry: x\n", .milliseconds(1)), ("retry\n", nil), ("retry:\n", nil), ("retry: -1\n", nil),
        ("retry: 1.5\n", nil), ("retry: 1 \n", nil), ("retry: ١\n", nil), ("retry: 1", nil),
        ("retry: 99999999999999999999\n", .milliseconds(Int64.max)),
    ]

    @Test(arguments: Self.retryIsParsedAsMillisecondsArguments)
    func retryIsParsedAsMilliseconds(text: String, expected: Duration?) {
        #expect(read(Data(text.utf8)).retry == expected)
    }

    private static let tooLongEventIsRejectedAfterTheEventsBeforeItArguments: [(String, Int, Int, Bool)] = [
        ("data: 12345678\n\n", 16, 1, false), ("data: 1234567890\n\n", 16, 1, false),
        ("data: 12345678901\n\n", 16, 0, true), (": 123456789012345\n\n", 16, 0, true),
        ("data: 1\n\ndata: 2\n\ndata: 12345678901", 16, 2, true),
        ("data:1234567\ndata:1234567\n\n", 16, 1, false), ("data:1234567\ndata:12345678\n\n", 16, 0, true),
        ("data:1234567\ndata:12345678\n\ndata: a\n\n", 16, 0, true),
        ("data:\ndata:\ndata:\ndata:\n\n", 6, 1, false), ("data:\ndata:\ndata:\n\n", 2, 0, true),
    ]

    @Test(arguments: Self.tooLongEventIsRejectedAfterTheEventsBeforeItArguments)
    func tooLongEventIsRejectedAfterTheEventsBeforeIt(text: String, maxEventBytes: Int, count: Int, isRefused: Bool) {
        let reading = read(Data(text.utf8), maxEventBytes: maxEventBytes)
        #expect(reading.events.count == count)
        #expect(reading.kind == (isRefused ? .tooLarge : nil))
    }

    @Test func tooLongEventEndsTheStream() {
        var stream = EventStream(maxEventBytes: 8)
        stream.feed(Data("data: 123456789\n\ndata: a\n\n".utf8))
        for _ in 0..<3 { #expect(throws: NetworkError.self) { try stream.next() } }
    }
}
