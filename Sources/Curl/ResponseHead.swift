import BeagleNetHTTP

/// Collects the header lines of one hop and makes heads of them: interim ones, the final one, and trailers, which
/// are counted and dropped. Fed line by line, as libcurl gives them.
struct ResponseHead {
    /// Limits on what a server may send as head and trailers of one hop.
    enum Limit {
        static let bytes = 256 << 10
        static let lines = 2_000
        static let interim = 64
    }

    /// What a line brought about.
    enum Progress {
        case more, interim(HTTPResponse), complete(HTTPResponse, Framing)
    }

    /// What the fields say of the body, read as they pass: looking for a field later takes longer than parsing it.
    struct Framing {
        fileprivate(set) var length: Int64?
        fileprivate(set) var isEncoded = false
    }

    private var lines: [UInt8] = []
    private var bytes = 0
    private var count = 0
    private var interimCount = 0
    private(set) var isComplete = false

    /// Whether a line has come at all.
    var hasBegun: Bool { count > 0 }

    /// Takes a line.
    ///
    /// - Parameter names: the names of fields met before, on whichever connection.
    mutating func feed(
        _ line: UnsafeRawBufferPointer,
        _ names: inout FieldNames
    ) throws(NetworkError) -> Progress {
        bytes += line.count
        count += 1
        guard bytes <= Limit.bytes else {
            throw .head(.tooLarge, "the response head is larger than \(Limit.bytes) bytes")
        }
        guard count <= Limit.lines else {
            throw .head(.tooLarge, "the response head has more than \(Limit.lines) lines")
        }
        if isComplete { return .more }
        if lines.isEmpty { lines.reserveCapacity(1024) }
        if let first = line.first, first == .space || first == .tab { try unfold() }
        lines.append(contentsOf: line)
        guard line.isLineEnd else { return .more }

        let (head, framing) = try Self.parse(lines, &names)
        guard (100..<200).contains(head.status.code) else {
            isComplete = true
            lines = []
            return .complete(head, framing)
        }
        guard head.status.code != 101 else {
            throw .head(.protocol, "the server switched protocols unasked")
        }
        interimCount += 1
        guard interimCount <= Limit.interim else {
            throw .head(.protocol, "more than \(Limit.interim) informational responses before the final one")
        }
        lines.removeAll(keepingCapacity: true)
        return .interim(head)
    }

    /// Joins the line to come to the one before, as if it had been one (RFC 9112, 5.2).
    private mutating func unfold() throws(NetworkError) {
        guard count > 2 else { throw .head(.protocol, "the first header line of the response is a continuation") }
        while let last = lines.last, last == .lineFeed || last == .carriageReturn { lines.removeLast() }
    }

    /// Makes a head of a whole block of lines, the status line first (RFC 9112, 4 and 5; RFC 9113, 8.3.2).
    private static func parse(
        _ block: [UInt8],
        _ names: inout FieldNames
    ) throws(NetworkError) -> (HTTPResponse, Framing) {
        try block.withUnsafeBufferPointer { (block) throws(NetworkError) in
            var lines = LineReader(rest: block[...])
            guard let statusLine = lines.next(), let status = status(of: statusLine) else {
                throw .head(.protocol, "the status line is malformed")
            }
            var fields = HTTPFields()
            fields.reserveCapacity(16)
            var framing = Framing()
            while let line = lines.next(), !line.isEmpty {
                fields.append(try field(of: line, &names, &framing))
            }
            return (HTTPResponse(status: status, headerFields: fields), framing)
        }
    }

    private static func status(of line: Bytes) -> HTTPResponse.Status? {
        guard line.prefix(5).elementsEqual("HTTP/".utf8), let space = line.firstIndex(of: .space) else { return nil }
        let rest = line[(space + 1)...]
        guard rest.count >= 3 else { return nil }
        var code = 0
        for digit in rest.prefix(3) {
            guard (0x30...0x39).contains(digit) else { return nil }
            code = code * 10 + Int(digit - 0x30)
        }
        let reason = rest.dropFirst(3).drop { $0 == .space }
        guard code >= 100, rest.count == 3 || rest[rest.startIndex + 3] == .space else { return nil }
        return .init(code: code, reasonPhrase: reason.isEmpty ? "" : String(decoding: reason, as: UTF8.self))
    }

    private static func field(
        of line: Bytes,
        _ names: inout FieldNames,
        _ framing: inout Framing
    ) throws(NetworkError) -> HTTPField {
        guard let colon = line.firstIndex(of: .colon), !line.contains(0),
            let entry = names.entry(UnsafeBufferPointer(rebasing: line[..<colon]))
        else {
            throw .head(.protocol, "a header field of the response is malformed")
        }
        let value = UnsafeBufferPointer(rebasing: line[(colon + 1)...].trimmed)
        switch entry.role {
        case .contentLength: try note(length: value, in: &framing)
        case .contentEncoding: framing.isEncoded = true
        case .other: break
        }
        // The common case, without the detour that keeps bytes which are no text.
        guard value.contains(where: { $0 >= 0x80 }) else {
            return HTTPField(name: entry.name, value: String(decoding: value, as: UTF8.self))
        }
        return HTTPField(name: entry.name, value: value)
    }

    /// A length that is no number, that no number can hold, or that differs from another one is a request to misread
    /// where the message ends (RFC 9112, 6.3); libcurl reads on to the end of the connection then.
    private static func note(length text: UnsafeBufferPointer<UInt8>, in framing: inout Framing) throws(NetworkError) {
        var length: Int64 = 0
        for digit in text {
            let (tens, isTooLong) = length.multipliedReportingOverflow(by: 10)
            let (sum, isTooLarge) = tens.addingReportingOverflow(Int64(digit) - 0x30)
            guard (0x30...0x39).contains(digit), !isTooLong, !isTooLarge else { throw .noLength }
            length = sum
        }
        guard !text.isEmpty else { throw .noLength }
        guard framing.length == nil || framing.length == length else {
            throw .head(.protocol, "the response has two different Content-Length fields")
        }
        framing.length = length
    }
}

private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

/// Gives the lines of a block without their ends.
private struct LineReader {
    var rest: Bytes

    mutating func next() -> Bytes? {
        guard let end = rest.firstIndex(of: .lineFeed) else { return nil }
        let line = rest[..<end]
        rest = rest[(end + 1)...]
        return line.last == .carriageReturn ? line.dropLast() : line
    }
}

extension UInt8 {
    fileprivate static let lineFeed: UInt8 = 0x0A
    fileprivate static let carriageReturn: UInt8 = 0x0D
    fileprivate static let space: UInt8 = 0x20
    fileprivate static let tab: UInt8 = 0x09
    fileprivate static let colon: UInt8 = 0x3A
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

extension Bytes {
    fileprivate var trimmed: Self {
        var slice = self
        while let first = slice.first, first == .space || first == .tab { slice = slice.dropFirst() }
        while let last = slice.last, last == .space || last == .tab { slice = slice.dropLast() }
        return slice
    }
}

extension NetworkError {
    fileprivate static var noLength: NetworkError {
        .head(.protocol, "the response's Content-Length is no length")
    }

    fileprivate static func head(_ kind: Kind, _ message: String) -> NetworkError {
        NetworkError(kind, during: .firstByte, message)
    }
}
