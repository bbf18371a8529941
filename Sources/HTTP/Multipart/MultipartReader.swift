/// A parser for multipart bodies (RFC 2046, 5.1).
///
/// The bytes may arrive in pieces of any size.
///
/// Feed it bytes, take elements until `next()` returns `nil`, and call `finish()` at the end:
/// ```swift
/// var reader = try MultipartReader(contentType: "multipart/mixed; boundary=-")
/// for try await chunk in body {
///     reader.feed(chunk)
///     while let element = try reader.next() { … }
/// }
/// try reader.finish()
/// ```
/// Bytes before the first boundary and after the last one are ignored.
public struct MultipartReader: Sendable {
    /// An element of a body.
    ///
    /// Each part consists of a head, any number of body chunks and an end, in this order.
    public enum Element: Sendable, Hashable {
        /// The start of a part, with its header fields, if any.
        case head(HTTPFields)
        /// A chunk of the part's body, split at any position.
        case body(Data)
        /// The end of the part.
        case end
    }

    private enum State {
        /// Before the first boundary, or in the body of a part.
        case content
        /// At bytes that may be a boundary.
        case boundary
        case head
        case epilogue
    }

    /// The maximum number of spaces and tabs after a boundary that count as padding.
    private static let maxPadding = 256

    /// Two dashes and the boundary, which follow a line end.
    private let delimiter: [UInt8]
    private let maxHeadBytes: Int
    private let acceptsLineFeeds: Bool
    private var state = State.content
    private var isInPart = false
    /// The bytes that were fed, parsed up to `position`.
    ///
    /// They start with a line end, because a body may begin with a boundary.
    private var bytes: [UInt8] = [.carriageReturn, .lineFeed]
    private var position = 0
    /// The length of the empty line at `position` that ends a head.
    ///
    /// If the part's body is empty, the next boundary may share it.
    private var emptyLine = 0
    private var lines: [[UInt8]] = []
    private var headBytes = 0
    private var failure: NetworkError?

    /// Creates a parser for a body with a boundary.
    ///
    /// - Parameters:
    ///   - boundary: The boundary without the two leading dashes; 1 to 70 characters.
    ///   - maxHeadBytes: The maximum size of a part's head, in bytes. 16 KiB by default.
    ///   - acceptsLineFeeds: Whether a line feed alone also ends a line, as some servers send it. `false` by default.
    /// - Throws: `NetworkError` of kind `.protocol` if the boundary has another length.
    public init(
        boundary: String,
        maxHeadBytes: Int = 16 << 10,
        acceptsLineFeeds: Bool = false
    ) throws(NetworkError) {
        guard (1...70).contains(boundary.utf8.count) else {
            throw .multipart("the multipart boundary must have 1 to 70 characters, but it has \(boundary.utf8.count)")
        }
        delimiter = Array("--\(boundary)".utf8)
        self.maxHeadBytes = maxHeadBytes
        self.acceptsLineFeeds = acceptsLineFeeds
    }

    /// Creates a parser for a body with a `Content-Type`.
    ///
    /// - Parameters:
    ///   - contentType: A type `multipart/…` with a `boundary`.
    ///   - maxHeadBytes: The maximum size of a part's head, in bytes. 16 KiB by default.
    ///   - acceptsLineFeeds: Whether a line feed alone also ends a line, as some servers send it. `false` by default.
    /// - Throws: `NetworkError` of kind `.protocol` if it isn't a multipart type with a valid boundary.
    public init(
        contentType: String,
        maxHeadBytes: Int = 16 << 10,
        acceptsLineFeeds: Bool = false
    ) throws(NetworkError) {
        let mediaType = MediaType(contentType)
        guard let mediaType, mediaType.essence.hasPrefix("multipart/"), let boundary = mediaType.parameters["boundary"]
        else {
            throw .multipart("the media type \(mediaType?.essence ?? "") has no boundary")
        }
        try self.init(boundary: boundary, maxHeadBytes: maxHeadBytes, acceptsLineFeeds: acceptsLineFeeds)
    }

    /// Adds bytes, which `next()` parses.
    ///
    /// They stay in memory until it returns `nil`.
    public mutating func feed(_ bytes: Data) {
        guard state != .epilogue else { return }
        self.bytes.removeFirst(position)
        position = 0
        self.bytes += bytes
    }

    /// Returns the next element, or `nil` if more bytes are needed.
    ///
    /// - Throws: `NetworkError` of kind `.protocol` if a part's head is malformed, or `.tooLarge` if it exceeds the
    ///   limit. All later calls throw the same error.
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

    /// Whether the last boundary has been parsed.
    ///
    /// Any bytes after it are ignored.
    public var isFinished: Bool { state == .epilogue }

    /// Checks that the body is complete.
    ///
    /// Call it after the last bytes.
    ///
    /// - Throws: `NetworkError` of kind `.truncated` if the last boundary is missing.
    public func finish() throws(NetworkError) {
        if let failure { throw failure }
        guard isFinished else {
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
        let found = firstDelimiter()
        let end = found ?? possibleDelimiter
        let start = min(position + emptyLine, end)
        if found != nil { state = .boundary } else if start == end { return .more }
        if end > position { emptyLine = 0 }
        position = end
        return isInPart && start < end ? .element(.body(Data(bytes[start..<end]))) : .again
    }

    /// Returns the index of the next line end that is followed by a delimiter.
    private func firstDelimiter() -> Int? {
        var place = position
        while let lineEnd = firstLineEnd(from: place) {
            if bytes[lineEnd.upperBound...].starts(with: delimiter) { return lineEnd.lowerBound }
            place = lineEnd.upperBound
        }
        return nil
    }

    /// The index near the end of the buffer where a delimiter may begin. The bytes before it can be delivered.
    private var possibleDelimiter: Int {
        let earliest = max(position, bytes.count - delimiter.count - 1)
        return bytes[earliest...].indices.first { place in
            let lineEnd = lineEndCount(at: place)
            return lineEnd == nil
                ? bytes[place] == .carriageReturn && place == bytes.count - 1
                : delimiter.starts(with: bytes[(place + lineEnd!)...])
        } ?? bytes.count
    }

    /// Returns the range of the next line end.
    private func firstLineEnd(from place: Int) -> Range<Int>? {
        var place = place
        while let feed = bytes[place...].firstIndex(of: .lineFeed) {
            if feed > position, bytes[feed - 1] == .carriageReturn { return (feed - 1)..<(feed + 1) }
            if acceptsLineFeeds { return feed..<(feed + 1) }
            place = feed + 1
        }
        return nil
    }

    /// Returns the length of the line end at an index, or `nil` if no line ends there.
    private func lineEndCount(at place: Int) -> Int? {
        let rest = bytes[place...].prefix(2)
        if rest.elementsEqual([.carriageReturn, .lineFeed]) { return 2 }
        return acceptsLineFeeds && rest.first == .lineFeed ? 1 : nil
    }

    // MARK: boundaries

    private mutating func stepOverBoundary() -> Step {
        let rest = bytes[(position + (lineEndCount(at: position) ?? 0) + delimiter.count)...]
        if rest.starts(with: [.dash, .dash]) {
            state = .epilogue
            bytes = []
            position = 0
        } else {
            let padding = rest.prefix(Self.maxPadding).prefix { $0 == .space || $0 == .tab }
            guard let lineEnd = lineEndCount(at: padding.endIndex) else {
                let next = rest[padding.endIndex...].prefix(2)
                let isUndecided =
                    next.isEmpty || next.elementsEqual([.carriageReturn])
                    || (padding.isEmpty && next.elementsEqual([.dash]))
                return isUndecided ? .more : stepOverLineEnd()
            }
            state = .head
            position = padding.endIndex + lineEnd
        }
        defer { isInPart = state == .head }
        return isInPart ? .element(.end) : .again
    }

    /// Skips the line end before an apparent boundary that turned out to be a longer line of the body.
    private mutating func stepOverLineEnd() -> Step {
        state = .content
        let lineEnd = bytes[position..<(position + (lineEndCount(at: position) ?? 0))]
        defer {
            position = lineEnd.endIndex
            emptyLine = 0
        }
        return isInPart && emptyLine == 0 ? .element(.body(Data(lineEnd))) : .again
    }

    // MARK: heads

    private mutating func stepThroughHead() throws(NetworkError) -> Step {
        if lines.isEmpty, isAtDelimiterLine {
            // An empty part: its boundary shares a line end with the next boundary.
            state = .boundary
            return .element(.head(HTTPFields()))
        }
        let lineEnd = firstLineEnd(from: position)
        headBytes += (lineEnd?.upperBound ?? position) - position
        guard headBytes + (lineEnd == nil ? bytes.count - position : 0) <= maxHeadBytes else {
            throw NetworkError(
                .tooLarge,
                during: .body,
                "the head of a part is larger than the \(maxHeadBytes) bytes allowed"
            )
        }
        guard let lineEnd else { return .more }
        let line = bytes[position..<lineEnd.lowerBound]
        guard line.isEmpty else {
            position = lineEnd.upperBound
            // A line that begins with a space or tab continues the previous line (RFC 5322, 2.2.3).
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
        emptyLine = lineEnd.count
        return .element(.head(fields))
    }

    /// Whether a complete delimiter line comes next, or the closing delimiter.
    private var isAtDelimiterLine: Bool {
        guard bytes[position...].starts(with: delimiter) else { return false }
        let rest = bytes[(position + delimiter.count)...]
        if rest.starts(with: [.dash, .dash]) { return true }
        let padding = rest.prefix(Self.maxPadding).prefix { $0 == .space || $0 == .tab }
        return lineEndCount(at: padding.endIndex) != nil
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
