/// Takes a multipart body apart, however it is cut (RFC 2046, 5.1).
///
/// Feed it what comes, take elements until there is none, and ask for `finish()` at the end:
/// ```swift
/// var reader = try MultipartReader(contentType: "multipart/mixed; boundary=-")
/// for try await chunk in body {
///     reader.feed(chunk)
///     while let element = try reader.next() { … }
/// }
/// try reader.finish()
/// ```
/// What stands before the first boundary and behind the last is passed over.
public struct MultipartReader: Sendable {
    /// What a body is made of, in this order for each part: a head, any number of pieces, an end.
    public enum Element: Sendable, Hashable {
        /// The header fields of the part that begins here; a part may have none.
        case head(HTTPFields)
        /// Bytes of the part's body; how they are cut means nothing.
        case body(Data)
        /// The end of the part.
        case end
    }

    private enum State {
        /// Before the first boundary, or in the body of a part.
        case content
        /// At what looks like a boundary.
        case boundary
        case head
        case epilogue
    }

    /// The most blanks behind a boundary that count as padding.
    private static let maxPadding = 256

    private let delimiter: [UInt8]
    private let maxHeadBytes: Int
    private var state = State.content
    private var isInPart = false
    /// What was fed; up to `position` it was taken. The line end that belongs to a boundary may be the body's first.
    private var bytes: [UInt8] = [.carriageReturn, .lineFeed]
    private var position = 0
    /// Whether `position` is past the empty line that ends a head: a body of nothing may share its line end.
    private var isBodyBegun = true
    private var lines: [[UInt8]] = []
    private var headBytes = 0
    private var failure: NetworkError?

    /// Reads a body with this boundary.
    ///
    /// - Parameters:
    ///   - boundary: what stands behind the two dashes; 1 to 70 characters.
    ///   - maxHeadBytes: the most bytes that a part's head may have, 16 KiB by default.
    /// - Throws: `NetworkError` of kind `.protocol` for any other boundary.
    public init(boundary: String, maxHeadBytes: Int = 16 << 10) throws(NetworkError) {
        guard (1...70).contains(boundary.utf8.count) else {
            throw .multipart("the boundary has \(boundary.utf8.count) characters, not 1 to 70")
        }
        delimiter = Array("\r\n--\(boundary)".utf8)
        self.maxHeadBytes = maxHeadBytes
    }

    /// Reads a body of this `Content-Type`.
    ///
    /// - Parameters:
    ///   - contentType: `multipart/…` with a `boundary`.
    ///   - maxHeadBytes: the most bytes that a part's head may have, 16 KiB by default.
    /// - Throws: `NetworkError` of kind `.protocol` where it is not of that kind.
    public init(contentType: String, maxHeadBytes: Int = 16 << 10) throws(NetworkError) {
        let mediaType = MediaType(contentType)
        guard let mediaType, mediaType.essence.hasPrefix("multipart/"), let boundary = mediaType.parameters["boundary"]
        else {
            throw .multipart("the media type \(mediaType?.essence ?? "") names no boundary")
        }
        try self.init(boundary: boundary, maxHeadBytes: maxHeadBytes)
    }

    /// Takes bytes in; `next()` makes elements of them. They stay in memory until it has given nil.
    public mutating func feed(_ bytes: Data) {
        guard state != .epilogue else { return }
        self.bytes.removeFirst(position)
        position = 0
        self.bytes += bytes
    }

    /// The next element; nil where more bytes are needed.
    ///
    /// - Throws: `NetworkError` of kind `.protocol` or `.tooLarge` where a part's head is malformed or longer than
    ///   allowed, and every time from then on.
    public mutating func next() throws(NetworkError) -> Element? {
        if let failure { throw failure }
        do throws(NetworkError) {
            while true {
                switch try step() {
                case .element(let element): return element
                case .more: return nil
                case .again: continue
                }
            }
        } catch {
            failure = error
            throw error
        }
    }

    /// Says that the body has ended.
    ///
    /// - Throws: `NetworkError` of kind `.truncated` where its last boundary has not come.
    public func finish() throws(NetworkError) {
        if let failure { throw failure }
        guard state == .epilogue else {
            throw NetworkError(.truncated, during: .body, "the multipart body ended before its last boundary")
        }
    }
}

extension MultipartReader {
    private enum Step {
        case element(Element), more, again
    }

    private mutating func step() throws(NetworkError) -> Step {
        switch state {
        case .content: stepThroughContent()
        case .boundary: stepOverBoundary()
        case .head: try stepThroughHead()
        case .epilogue: .more
        }
    }

    // MARK: content

    private mutating func stepThroughContent() -> Step {
        let found = first(delimiter)
        // What may be the beginning of a delimiter is kept.
        let end = found ?? max(position, bytes.count - delimiter.count + 1)
        let start = min(position + (isBodyBegun ? 0 : 2), end)
        if found != nil { state = .boundary } else if start == end { return .more }
        isBodyBegun = isBodyBegun || end > position
        position = end
        return isInPart && start < end ? .element(.body(Data(bytes[start..<end]))) : .again
    }

    /// Where these bytes, the first of which is a carriage return, come next.
    private func first(_ wanted: [UInt8]) -> Int? {
        var start = position
        while let index = bytes[start...].firstIndex(of: .carriageReturn), bytes.count - index >= wanted.count {
            if bytes[index...].starts(with: wanted) { return index }
            start = index + 1
        }
        return nil
    }

    // MARK: boundaries

    private mutating func stepOverBoundary() -> Step {
        let rest = bytes[(position + delimiter.count)...]
        if rest.starts(with: [.dash, .dash]) {
            state = .epilogue
            bytes = []
            position = 0
        } else {
            let padding = rest.prefix(Self.maxPadding).prefix { $0 == .space || $0 == .tab }
            let lineEnd = rest[padding.endIndex...].prefix(2)
            guard lineEnd.elementsEqual([.carriageReturn, .lineFeed]) else {
                let isUndecided =
                    lineEnd.isEmpty || lineEnd.elementsEqual([.carriageReturn])
                    || (padding.isEmpty && lineEnd.elementsEqual([.dash]))
                return isUndecided ? .more : stepOverLineEnd()
            }
            state = .head
            position = lineEnd.endIndex
        }
        defer { isInPart = state == .head }
        return isInPart ? .element(.end) : .again
    }

    /// What looked like a boundary is a longer line of the body.
    private mutating func stepOverLineEnd() -> Step {
        state = .content
        defer {
            position += 2
            isBodyBegun = true
        }
        return isInPart && isBodyBegun ? .element(.body(Data(bytes[position..<position + 2]))) : .again
    }

    // MARK: heads

    private mutating func stepThroughHead() throws(NetworkError) -> Step {
        let line = first([.carriageReturn, .lineFeed]).map { bytes[position..<$0] }
        headBytes += line.map { $0.count + 2 } ?? 0
        guard headBytes + (line == nil ? bytes.count - position : 0) <= maxHeadBytes else {
            throw NetworkError(
                .tooLarge,
                during: .body,
                "the head of a part is larger than the \(maxHeadBytes) bytes allowed"
            )
        }
        guard let line else { return .more }
        guard line.isEmpty else {
            position = line.endIndex + 2
            // A line that begins with a blank goes on with the one before (RFC 5322, 2.2.3).
            if let first = line.first, first == .space || first == .tab, !lines.isEmpty {
                lines[lines.count - 1] += line
            } else {
                lines.append(Array(line))
            }
            return .again
        }
        var fields = HTTPFields()
        for line in lines { fields.append(try field(of: line)) }
        lines = []
        headBytes = 0
        state = .content
        isBodyBegun = false
        return .element(.head(fields))
    }

    private func field(of line: [UInt8]) throws(NetworkError) -> HTTPField {
        let blank: (UInt8) -> Bool = { $0 == .space || $0 == .tab }
        guard let colon = line.firstIndex(of: .colon),
            let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
        else { throw .multipart("a field in the head of a part is malformed") }
        var value = line[(colon + 1)...].drop(while: blank)
        while let last = value.last, blank(last) { value.removeLast() }
        guard HTTPField.isValidValue(value) else {
            throw .multipart("the value of \(name.rawName) in the head of a part is malformed")
        }
        return HTTPField(name: name, value: value)
    }
}

extension UInt8 {
    fileprivate static let lineFeed: UInt8 = 0x0A
    fileprivate static let carriageReturn: UInt8 = 0x0D
    fileprivate static let tab: UInt8 = 0x09
    fileprivate static let space: UInt8 = 0x20
    fileprivate static let dash: UInt8 = 0x2D
    fileprivate static let colon: UInt8 = 0x3A
}

extension NetworkError {
    fileprivate static func multipart(_ message: String) -> NetworkError {
        NetworkError(.protocol, during: .body, message)
    }
}
