import BeagleNetHTTP

/// Collects the header lines of one hop and makes heads of them: interim ones, the final one, and trailers. Fed line by
/// line, as libcurl gives them.
struct ResponseHead: ~Copyable {
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

    private struct State {
        /// Of the head that is being read; of trailers once it is complete.
        var lines: UnsafeMutableRawBufferPointer?
        /// Bytes of `lines` that are in use.
        var length = 0
        var bytes = 0
        var count = 0
        /// Lines before the head that is being read.
        var earlier = 0
        var interimCount = 0
        var isComplete = false
    }

    /// Behind a pointer: an object's property that changes in place costs two calls of the runtime for each line.
    private let state: UnsafeMutablePointer<State>

    init() {
        state = .allocate(capacity: 1)
        state.initialize(to: State())
    }

    deinit {
        state.pointee.lines?.deallocate()
        state.deallocate()
    }

    /// Bytes of all lines so far.
    var bytes: Int { state.pointee.bytes }

    /// Whether a line has come at all.
    var hasBegun: Bool { state.pointee.count > 0 }

    /// Whether the final head has come.
    var isComplete: Bool { state.pointee.isComplete }

    /// Takes a line within a head, of which nothing more is to be said: as nearly all are.
    ///
    /// - Returns: false where `feed` has to take it.
    @inline(__always)
    func takes(_ line: UnsafeRawBufferPointer) -> Bool {
        let count = line.count
        let state = state
        guard count > 2, state.pointee.count < Limit.lines, state.pointee.bytes + count <= Limit.bytes,
            !state.pointee.isComplete, let lines = state.pointee.lines, state.pointee.length + count <= lines.count,
            line[0] != .space, line[0] != .tab, let start = lines.baseAddress, let source = line.baseAddress
        else { return false }
        (start + state.pointee.length).copyMemory(from: source, byteCount: count)
        state.pointee.length += count
        state.pointee.bytes += count
        state.pointee.count += 1
        return true
    }

    /// Takes a line.
    func feed(_ line: UnsafeRawBufferPointer) throws(NetworkError) -> Progress {
        state.pointee.bytes += line.count
        state.pointee.count += 1
        guard state.pointee.bytes <= Limit.bytes else {
            throw .head(.tooLarge, "the response head is larger than \(Limit.bytes) bytes")
        }
        guard state.pointee.count <= Limit.lines else {
            throw .head(.tooLarge, "the response head has more than \(Limit.lines) lines")
        }
        if !isComplete, let first = line.first, first == .space || first == .tab { try unfold() }
        append(line)
        guard !isComplete, line.isLineEnd else { return .more }
        return try conclude()
    }

    /// A head has come to its end.
    private func conclude() throws(NetworkError) -> Progress {
        let head = try RawHead(taking: takeLines())
        guard (100..<200).contains(head.status.code) else {
            state.pointee.isComplete = true
            return .complete(head)
        }
        guard head.status.code != 101 else {
            throw .head(.protocol, "the server switched protocols unasked")
        }
        state.pointee.interimCount += 1
        guard state.pointee.interimCount <= Limit.interim else {
            throw .head(.protocol, "more than \(Limit.interim) informational responses before the final one")
        }
        state.pointee.earlier = state.pointee.count
        return .interim(head.head)
    }

    private func append(_ line: UnsafeRawBufferPointer) {
        let length = state.pointee.length
        let room = state.pointee.lines?.count ?? 0
        if length + line.count > room {
            let size = max(512, length + line.count, 2 * room)
            let grown = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
            if let lines = state.pointee.lines {
                grown.copyMemory(from: UnsafeRawBufferPointer(rebasing: lines[..<length]))
                lines.deallocate()
            }
            state.pointee.lines = grown
        }
        guard let start = state.pointee.lines?.baseAddress, let source = line.baseAddress else { return }
        (start + length).copyMemory(from: source, byteCount: line.count)
        state.pointee.length = length + line.count
    }

    private var lines: [UInt8] { state.pointee.lines.map { Array($0[..<state.pointee.length]) } ?? [] }

    /// The lines in their memory, which is whoever's that takes them.
    private func takeLines() -> UnsafeBufferPointer<UInt8> {
        defer {
            state.pointee.lines = nil
            state.pointee.length = 0
        }
        let start = state.pointee.lines?.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return UnsafeBufferPointer(start: start, count: start == nil ? 0 : state.pointee.length)
    }

    /// The fields that came behind the body.
    func trailers() throws(NetworkError) -> HTTPFields {
        isComplete && state.pointee.length > 0 ? try RawHead.trailers(parsing: lines) : [:]
    }

    /// Joins the line to come to the one before, as if it had been one (RFC 9112, 5.2).
    private func unfold() throws(NetworkError) {
        guard state.pointee.count - state.pointee.earlier > 2 else {
            throw .head(.protocol, "the first header line of the response is a continuation")
        }
        guard let lines = state.pointee.lines else { return }
        while state.pointee.length > 0 {
            let last = lines[state.pointee.length - 1]
            guard last == .lineFeed || last == .carriageReturn else { break }
            state.pointee.length -= 1
        }
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
