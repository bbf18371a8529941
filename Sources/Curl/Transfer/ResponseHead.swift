import BeagleNetHTTP

/// A parser of one hop's header lines into informational heads, the final head, and trailers. libcurl provides the
/// lines one by one.
struct ResponseHead: ~Copyable {
    /// Limits on the size of a hop's heads and trailers.
    enum Limit {
        static let bytes = 256 << 10
        static let lines = 2_000
        static let interim = 64
    }

    /// The result of feeding a line.
    enum Progress {
        case more, interim(HTTPResponse), complete(RawHead)
    }

    /// The lines of the current head, or of the trailers once the head is complete.
    private var lines: UnsafeMutableRawBufferPointer?
    /// The number of bytes of `lines` in use.
    private var length = 0
    /// The number of bytes of all lines so far.
    private(set) var bytes = 0
    private var count = 0
    /// The number of lines before the current head.
    private var earlier = 0
    private var interimCount = 0
    /// Whether the final head is complete.
    private(set) var isComplete = false

    deinit {
        lines?.deallocate()
    }

    /// Whether any line has been received.
    var hasBegun: Bool { count > 0 }

    /// Takes a line in the middle of a head. This is the fast path for nearly all lines.
    ///
    /// - Returns: Whether the line was taken; if not, pass it to `feed`.
    @inline(__always)
    mutating func takes(_ line: UnsafeRawBufferPointer) -> Bool {
        guard line.count > 2, count < Limit.lines, bytes + line.count <= Limit.bytes, !isComplete,
            line[0] != .space, line[0] != .tab, let lines, length + line.count <= lines.count,
            let start = lines.baseAddress, let source = line.baseAddress
        else { return false }
        (start + length).copyMemory(from: source, byteCount: line.count)
        length += line.count
        bytes += line.count
        count += 1
        return true
    }

    /// Takes a line of any kind.
    mutating func feed(_ line: UnsafeRawBufferPointer) throws(NetworkError) -> Progress {
        bytes += line.count
        count += 1
        guard bytes <= Limit.bytes else {
            throw .head(.tooLarge, "the response head is larger than \(Limit.bytes) bytes")
        }
        guard count <= Limit.lines else {
            throw .head(.tooLarge, "the response head has more than \(Limit.lines) lines")
        }
        if !isComplete, let first = line.first, first == .space || first == .tab { try unfold() }
        append(line)
        guard !isComplete, line.isLineEnd else { return .more }
        return try conclude()
    }

    /// Parses the head that has just ended.
    private mutating func conclude() throws(NetworkError) -> Progress {
        let head = try RawHead(taking: takeLines())
        guard (100..<200).contains(head.status.code) else {
            isComplete = true
            return .complete(head)
        }
        guard head.status.code != 101 else {
            throw .head(.protocol, "the server switched protocols although this was not requested")
        }
        interimCount += 1
        guard interimCount <= Limit.interim else {
            throw .head(
                .protocol,
                "the server sent more than \(Limit.interim) informational responses before the final one"
            )
        }
        earlier = count
        return .interim(head.head)
    }

    private mutating func append(_ line: UnsafeRawBufferPointer) {
        let room = lines?.count ?? 0
        if length + line.count > room {
            let size = max(512, length + line.count, 2 * room)
            let grown = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
            if let lines {
                grown.copyMemory(from: UnsafeRawBufferPointer(rebasing: lines[..<length]))
                lines.deallocate()
            }
            lines = grown
        }
        guard let start = lines?.baseAddress, let source = line.baseAddress else { return }
        (start + length).copyMemory(from: source, byteCount: line.count)
        length += line.count
    }

    /// Returns the buffer of lines and transfers its ownership to the caller.
    private mutating func takeLines() -> UnsafeBufferPointer<UInt8> {
        defer {
            lines = nil
            length = 0
        }
        let start = lines?.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return UnsafeBufferPointer(start: start, count: start == nil ? 0 : length)
    }

    /// Returns the trailers, the fields after the body.
    func trailers() throws(NetworkError) -> HTTPFields {
        guard isComplete, length > 0, let lines else { return [:] }
        return try RawHead.trailers(parsing: Array(lines[..<length]))
    }

    /// Joins the next line to the previous one, as if they were one line (RFC 9112, 5.2).
    private mutating func unfold() throws(NetworkError) {
        guard count - earlier > 2 else {
            throw .head(.protocol, "the first header line of the response is a continuation line")
        }
        guard let lines else { return }
        if length > 0, lines[length - 1] == .lineFeed { length -= 1 }
        if length > 0, lines[length - 1] == .carriageReturn { length -= 1 }
    }
}

extension UInt8 {
    fileprivate static let lineFeed: UInt8 = 0x0A
    fileprivate static let carriageReturn: UInt8 = 0x0D
    fileprivate static let space: UInt8 = 0x20
    fileprivate static let tab: UInt8 = 0x09
}

extension UnsafeRawBufferPointer {
    fileprivate var isLineEnd: Bool {
        switch count {
        case 1: self[0] == .lineFeed
        case 2: self[0] == .carriageReturn && self[1] == .lineFeed
        default: false
        }
    }
}

extension NetworkError {
    fileprivate static func head(_ kind: Kind, _ message: String) -> NetworkError {
        NetworkError(kind, during: .firstByte, message)
    }
}
