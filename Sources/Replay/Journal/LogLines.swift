import BeagleNetHTTP

/// The lines of a segment, read in pieces.
struct LogLines {
    /// A line and where it stands.
    struct Line {
        enum Content {
            case whole([UInt8])
            /// No line feed has come behind it yet.
            case unfinished([UInt8])
            /// Longer than any record.
            case tooLong
        }

        let offset: Int64
        let content: Content
    }

    /// The longest line that is read, in bytes.
    static let limit = 64 << 20
    /// What fits into one as a text, however much of it has to be escaped, in bytes.
    static let maxTextBytes = 10 << 20

    private let path: String
    private let pieceBytes: Int
    private var file: OpenFile?
    /// Where the next piece is.
    private var position: Int64
    private var buffer: [UInt8] = []
    /// What of the buffer was taken.
    private var taken = 0
    /// Up to where the buffer was searched.
    private var searched = 0
    private var isSkipping = false
    private var isOver = false

    /// - Parameters:
    ///   - offset: where to begin, the begin of a line.
    ///   - pieceBytes: how much is read at a time.
    init(path: String, from offset: Int64 = 0, pieceBytes: Int = 256 << 10) {
        self.path = path
        self.pieceBytes = pieceBytes
        position = offset
    }

    /// Where the next line begins.
    var offset: Int64 { position - Int64(buffer.count - taken) }

    /// The next line that is not empty; nil at the end. A line without its end is given last.
    mutating func next() throws(NetworkError) -> Line? {
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Line(offset: offset, content: isSkipping ? .tooLong : .whole(Array(buffer[taken..<end])))
                let isEmpty = end == taken && !isSkipping
                taken = end + 1
                searched = taken
                isSkipping = false
                if !isEmpty { return line }
            } else if isOver {
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
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceBytes, alignment: 1)
        defer { room.deallocate() }
        let count = try file.read(into: room, at: position)
        position += Int64(count)
        isOver = count == 0
        // A hole of any size ends no line: what is longer than a piece is passed over unread.
        if count == pieceBytes, room.first == 0, room.last == 0, room.allSatisfy({ $0 == 0 }) {
            let data = try file.dataOffset(from: position)
            if data > position {
                (isSkipping, buffer, searched) = (true, [], 0)
                position = data
                return
            }
        }
        buffer.append(contentsOf: room[..<count])
    }
}
