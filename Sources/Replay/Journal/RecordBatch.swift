/// Records that are written together.
struct RecordBatch {
    /// A line feed on either side of each keeps one that was torn, by the end of its process, from its neighbours.
    private(set) var bytes: [UInt8] = []
    /// Where each begins.
    private var starts: [Int] = []

    /// How many there are.
    var count: Int { starts.count }

    /// Takes one more.
    mutating func append(_ record: UnsafeBufferPointer<UInt8>) {
        starts.append(bytes.count)
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: record)
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Lets go of those that are whole in the first bytes, which were written.
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
