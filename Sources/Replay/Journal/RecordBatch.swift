/// A batch of records that are written together.
struct RecordBatch {
    /// The encoded records. Line feeds on both sides of each record separate it from a neighbor that was cut off when
    /// its process ended.
    private(set) var bytes: [UInt8] = []
    /// The offset of each record.
    private var starts: [Int] = []

    /// The number of records.
    var count: Int { starts.count }

    /// Adds a record.
    mutating func append(_ record: UnsafeBufferPointer<UInt8>) {
        starts.append(bytes.count)
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: record)
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Removes the records that were written completely.
    mutating func drop(written: Int) {
        guard written < bytes.count else {
            starts.removeAll(keepingCapacity: true)
            return bytes.removeAll(keepingCapacity: bytes.capacity <= 128 << 10)
        }
        let rest = starts.drop { $0 <= written }
        let start = starts[rest.startIndex - 1]
        bytes.removeFirst(start)
        starts = ([start] + rest).map { $0 - start }
    }
}
