/// A parser for `text/event-stream`.
///
/// The bytes may arrive in pieces of any size.
///
/// Feed it bytes, then take events until `next()` returns `nil`:
/// ```swift
/// var stream = EventStream()
/// for try await chunk in body {
///     stream.feed(chunk)
///     while let event = try stream.next() { print(event.data) }
/// }
/// ```
/// An event without a terminating empty line is discarded.
///
/// Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
public struct EventStream: Sendable {
    /// An event from the server.
    public struct Event: Sendable, Hashable {
        /// The event's name, or `message` if the server sent none.
        public var type: String
        /// The lines of data, separated by line feeds.
        public var data: String
        /// The last ID that the server sent, with this event or an earlier one, or empty if it sent none.
        public var id: String

        /// Creates an event, for tests and other sources.
        public init(type: String = "message", data: String, id: String = "") {
            self.type = type
            self.data = data
            self.id = id
        }
    }

    /// The value of `Last-Event-ID` for a request that resumes here: the ID of the last complete event, including
    /// events without data.
    public private(set) var lastEventID: String
    /// The delay before reconnecting that the server asked for, or `nil` if it sent none.
    public private(set) var retry: Duration?

    /// The name of an event that is reported even without data, or `nil`. Browsers ignore events without data.
    package var typeAllowingEmptyData: String?

    private let maxEventBytes: Int
    private var isTooLarge = false
    /// The bytes that were fed, parsed up to `position`.
    private var bytes: [UInt8] = []
    private var position = 0
    /// The start of a line that isn't complete yet.
    private var line: [UInt8] = []
    private var isFirstLine = true
    /// Whether a line feed that comes next belongs to the carriage return before it.
    private var skipsLineFeed = false
    private var type = ""
    /// The lines of data, each followed by a line feed.
    private var data: [UInt8] = []
    /// The ID of the event that is being parsed.
    private var id: String

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - lastEventID: The ID for events before the first one that has an ID. To resume a stream, pass the last ID of
    ///     the previous stream, as browsers do.
    ///   - maxEventBytes: The maximum size of an event's data and of a line, in bytes. 16 MiB by default.
    public init(lastEventID: String = "", maxEventBytes: Int = 16 << 20) {
        self.lastEventID = lastEventID
        id = lastEventID
        self.maxEventBytes = maxEventBytes
    }

    /// Adds bytes, which `next()` parses.
    ///
    /// They stay in memory until it returns `nil`.
    public mutating func feed(_ bytes: Data) {
        if position == self.bytes.count {
            self.bytes.removeAll(keepingCapacity: true)
            position = 0
        }
        self.bytes += bytes
    }

    /// Returns the next event, or `nil` if more bytes are needed.
    ///
    /// - Throws: `NetworkError` of kind `.tooLarge` if a line or an event exceeds the limit. All later calls throw it,
    ///   too.
    public mutating func next() throws(NetworkError) -> Event? {
        while !isTooLarge, takeLine() {
            let event = readLine()
            line.removeAll(keepingCapacity: true)
            if let event { return event }
        }
        guard !isTooLarge else {
            throw NetworkError(
                .tooLarge,
                during: .body,
                "an event in the stream is larger than the \(maxEventBytes) bytes allowed",
                advice: "increase maxEventBytes"
            )
        }
        return nil
    }

    /// Appends bytes to `line` up to the end of the line. Returns `false` if the line isn't complete yet.
    private mutating func takeLine() -> Bool {
        if skipsLineFeed, position < bytes.count {
            skipsLineFeed = false
            if bytes[position] == .lineFeed { position += 1 }
        }
        let end = bytes[position...].firstIndex { $0 == .lineFeed || $0 == .carriageReturn }
        let part = bytes[position..<(end ?? bytes.count)]
        isTooLarge = part.count > maxEventBytes - line.count
        guard !isTooLarge else { return false }
        line += part
        position = part.endIndex
        guard let end else { return false }
        skipsLineFeed = bytes[end] == .carriageReturn
        position += 1
        return true
    }

    /// Interprets a complete line. An empty line ends an event.
    private mutating func readLine() -> Event? {
        var line = line[...]
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        }
        guard !line.isEmpty else { return endEvent() }
        let name = line.prefix { $0 != .colon }
        var value = line[name.endIndex...].dropFirst()
        if value.first == .space { value = value.dropFirst() }
        // A comment is a field with an empty name.
        readField(String(decoding: name, as: UTF8.self), value)
        return nil
    }

    private mutating func readField(_ name: String, _ value: ArraySlice<UInt8>) {
        switch name {
        case "event":
            type = String(decoding: value, as: UTF8.self)
        case "data":
            isTooLarge = value.count >= maxEventBytes - data.count
            guard !isTooLarge else { return }
            data += value
            data.append(.lineFeed)
        case "id":
            if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        case "retry":
            guard !value.isEmpty, value.allSatisfy({ (0x30...0x39).contains($0) }) else { return }
            retry = .milliseconds(Int64(String(decoding: value, as: UTF8.self)) ?? .max)
        default: break
        }
    }

    private mutating func endEvent() -> Event? {
        lastEventID = id
        defer {
            type = ""
            data.removeAll(keepingCapacity: true)
        }
        guard !data.isEmpty || !type.isEmpty && type == typeAllowingEmptyData else { return nil }
        return Event(
            type: type.isEmpty ? "message" : type,
            data: String(decoding: data.dropLast(), as: UTF8.self),
            id: id
        )
    }
}

extension UInt8 {
    fileprivate static let lineFeed: UInt8 = 0x0A
    fileprivate static let carriageReturn: UInt8 = 0x0D
    fileprivate static let space: UInt8 = 0x20
    fileprivate static let colon: UInt8 = 0x3A
}
