import Testing

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct EventSplitterTests {
    static let rows: [(String, [String])] = [
        ("data: a\n\n", ["data: a"]),
        ("data: a\r\n\r\ndata: b\r\r", ["data: a", "data: b"]),
        ("id: 1\ndata: a\ndata: b\n\n\n\n: c\n\n", ["id: 1\ndata: a\ndata: b", ": c"]),
        ("data: unfinished\n", []),
        ("\n\n", []),
    ]

    @Test(arguments: rows) func eventsAreSplitAtEmptyLinesInAnyChunks(_ text: String, _ events: [String]) {
        let bytes = Data(text.utf8)
        for split in 0...bytes.count {
            var splitter = EventSplitter()
            let found = splitter.feed(bytes.prefix(split)) + splitter.feed(bytes.dropFirst(split))
            #expect(found.map { String(decoding: $0, as: UTF8.self) } == events, "\(split)")
        }
        var splitter = EventSplitter()
        let found = bytes.flatMap { splitter.feed(Data([$0])) }
        #expect(found.map { String(decoding: $0, as: UTF8.self) } == events)
    }

    @Test func onlyTheTooLongEventIsDropped() {
        var splitter = EventSplitter()
        #expect(splitter.feed(Data(repeating: 0x61, count: 2 << 20) + Data("\n\n".utf8)) == [])
        #expect(splitter.feed(Data("data: a\n\n".utf8)) == [Data("data: a".utf8)])
    }
}
