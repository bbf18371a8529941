import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

struct RecordBatchTests {
    private static let records = [#"{"k":"start"}"#, "{}", #"{"k":"end","entry":{}}"#]

    private func batch(_ records: [String]) -> RecordBatch {
        var batch = RecordBatch()
        for record in records { Array(record.utf8).withUnsafeBufferPointer { batch.append($0) } }
        return batch
    }

    @Test func eachRecordIsFramedByLineFeeds() {
        #expect(batch(["{}", "[]"]).bytes == Array("\n{}\n\n[]\n".utf8))
        #expect(batch(["{}", "[]"]).count == 2)
    }

    /// Wherever a write stops, the rest contains exactly the records that were not written completely.
    @Test func tornRecordIsRewrittenCompletely() {
        let whole = batch(Self.records)
        for written in 0...whole.bytes.count {
            var rest = whole
            rest.drop(written: written)
            let before = lines(whole.bytes[..<written]).whole
            #expect(rest.bytes == batch(Array(Self.records[before...])).bytes, "\(written)")
            #expect(rest.count == Self.records.count - before)
            let file = whole.bytes[..<written] + rest.bytes
            #expect(lines(file).texts.filter(Self.records.contains).suffix(rest.count) == Self.records[before...])
        }
    }

    @Test func recordTornTwiceIsRewrittenCompletely() {
        var rest = batch(Self.records)
        rest.drop(written: 16)
        rest.drop(written: 3)
        #expect(rest.bytes == batch(Array(Self.records[1...])).bytes)
    }

    @Test func laterRecordFollowsTheTornOne() {
        var rest = batch(Self.records)
        rest.drop(written: 16)
        Array("[]".utf8).withUnsafeBufferPointer { rest.append($0) }
        #expect(rest.bytes == batch(Array(Self.records[1...]) + ["[]"]).bytes)
    }

    /// The lines of a file, and the number of terminated ones.
    private func lines(_ bytes: ArraySlice<UInt8>) -> (texts: [String], whole: Int) {
        let texts = bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        let isTorn = !bytes.isEmpty && bytes.last != UInt8(ascii: "\n")
        return (texts, texts.count - (isTorn ? 1 : 0))
    }
}
