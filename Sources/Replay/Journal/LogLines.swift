import BeagleNetHTTP

/// A reader of a segment's lines, which reads the file in pieces.
struct LogLines {
    /// A line and its position.
    struct Line {
        enum Content {
            case whole([UInt8])
            /// A line without a line feed at its end.
            case unfinished([UInt8])
            /// A line longer than any record.
            case tooLong
        }

        let offset: Int64
        let content: Content
    }

    /// The maximum length of a line, in bytes.
    static let limit = 64 << 20
    /// The maximum size of a text in bytes that fits into a line even if all of it has to be escaped.
    static let maxTextBytes = 10 << 20

    private let path: String
    private let pieceBytes: Int
    private var file: OpenFile?
    /// The file offset of the next piece.
    private var position: Int64
    private var buffer: [UInt8] = []
    /// The number of bytes of the buffer that were consumed.
    private var taken = 0
    /// The position up to which the buffer was searched.
    private var searched = 0
    private var isSkipping = false
    private var isFinished = false

    /// Creates a reader for a segment.
    ///
    /// - Parameters:
    ///   - offset: the start of a line at which reading begins.
    ///   - pieceBytes: the number of bytes that are read at a time.
    init(path: String, from offset: Int64 = 0, pieceBytes: Int = 256 << 10) {
        self.path = path
        self.pieceBytes = pieceBytes
        position = offset
    }

    /// The offset of the next line.
    var offset: Int64 { position - Int64(buffer.count - taken) }

    /// Returns the next line that isn't empty, or `nil` at the end. A last line without a line feed is also returned.
    mutating func next() throws(NetworkError) -> Line? {
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Line(offset: offset, content: isSkipping ? .tooLong : .whole(Array(buffer[taken..<end])))
                let isEmpty = end == taken && !isSkipping
                taken = end + 1
                searched = taken
                isSkipping = false
                if !isEmpty { return line }
            } else if isFinished {
                guard taken < buffer.count || isSkipping else { return nil }
                let line = Line(offset: offset, content: isSkipping ? .tooLong : .unfinished(Array(buffer[taken...])))
                taken = buffer.count
                isSkipping = false
                return line
            } else {
                try fill()
            }
        }
    }

    private mutating func fill() throws(NetworkError) {
        buffer.removeFirst(taken)
        taken = 0
        if buffer.count > Self.limit {
            isSkipping = true
            buffer = []
        }
        searched = buffer.count
        let file = if let file { file } else { try OpenFile(reading: path, followsLinks: false) }
        self.file = file
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceBytes, alignment: 1)
        defer { chunk.deallocate() }
        let count = try file.read(into: chunk, at: position)
        position += Int64(count)
        isFinished = count == 0
        // A hole in the file ends no line. If a piece is all zeros, the rest of the hole is skipped without reading it.
        if count == pieceBytes, chunk.first == 0, chunk.last == 0, chunk.allSatisfy({ $0 == 0 }) {
            let data = try file.dataOffset(from: position)
            if data > position {
                (isSkipping, buffer, searched) = (true, [], 0)
                position = data
                return
            }
        }
        buffer.append(contentsOf: chunk[..<count])
    }
}
