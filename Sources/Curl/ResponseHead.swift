import BeagleNetHTTP

/// Collects the header lines of one hop and makes heads of them: interim ones, the final one, and trailers. Fed line by
/// line, as libcurl gives them.
struct ResponseHead {
    /// Limits on what a server may send as head and trailers of one hop.
    enum Limit {
        static let bytes = 256 << 10
        static let lines = 2_000
        static let interim = 64
    }

    /// What a line brought about.
    enum Progress {
        case more, interim(HTTPResponse), complete(RawHead)
    }

    /// Of the head that is being read; of trailers once it is complete.
    private var lines: [UInt8] = []
    private(set) var bytes = 0
    private var count = 0
    /// Lines before the head that is being read.
    private var earlier = 0
    private var interimCount = 0
    private(set) var isComplete = false

    /// Whether a line has come at all.
    var hasBegun: Bool { count > 0 }

    /// Takes a line.
    mutating func feed(_ line: UnsafeRawBufferPointer) throws(NetworkError) -> Progress {
        bytes += line.count
        count += 1
        guard bytes <= Limit.bytes else {
            throw .head(.tooLarge, "the response head is larger than \(Limit.bytes) bytes")
        }
        guard count <= Limit.lines else {
            throw .head(.tooLarge, "the response head has more than \(Limit.lines) lines")
        }
        if isComplete {
            lines.append(contentsOf: line)
            return .more
        }
        if lines.isEmpty { lines.reserveCapacity(512) }
        if let first = line.first, first == .space || first == .tab { try unfold() }
        lines.append(contentsOf: line)
        guard line.isLineEnd else { return .more }

        let head = try RawHead(parsing: lines)
        guard (100..<200).contains(head.status.code) else {
            isComplete = true
            lines = []
            return .complete(head)
        }
        guard head.status.code != 101 else {
            throw .head(.protocol, "the server switched protocols unasked")
        }
        interimCount += 1
        guard interimCount <= Limit.interim else {
            throw .head(.protocol, "more than \(Limit.interim) informational responses before the final one")
        }
        lines.removeAll(keepingCapacity: true)
        earlier = count
        return .interim(head.head)
    }

    /// The fields that came behind the body.
    func trailers() throws(NetworkError) -> HTTPFields {
        isComplete && !lines.isEmpty ? try RawHead.trailers(parsing: lines) : [:]
    }

    /// Joins the line to come to the one before, as if it had been one (RFC 9112, 5.2).
    private mutating func unfold() throws(NetworkError) {
        guard count - earlier > 2 else {
            throw .head(.protocol, "the first header line of the response is a continuation")
        }
        while let last = lines.last, last == .lineFeed || last == .carriageReturn { lines.removeLast() }
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
