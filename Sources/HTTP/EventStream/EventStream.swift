/// Makes events of the bytes of a `text/event-stream`, however they are cut.
///
/// Feed it what comes, and take events until there is none:
/// ```swift
/// var stream = EventStream()
/// for try await chunk in body {
///     stream.feed(chunk)
///     while let event = try stream.next() { print(event.data) }
/// }
/// ```
/// An event that no empty line has ended is none. Source:
/// https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
public struct EventStream: Sendable {
    /// One event of the server's.
    public struct Event: Sendable, Hashable {
        /// Its name: `message` where the server gave none.
        public var type: String
        /// Its lines of data, with a line feed between each two.
        public var data: String
        /// The last id that the server gave with this event or one before; empty where it gave none.
        public var id: String

        /// An event, as a test or another source makes it.
        public init(type: String = "message", data: String, id: String = "") {
            self.type = type
            self.data = data
            self.id = id
        }
    }

    /// What a request that goes on from here has in `Last-Event-ID`: the id of the last event that was ended, also one
    /// without data.
    public private(set) var lastEventID: String
    /// How long the server wants a client to wait before it connects again; nil where it did not say.
    public private(set) var retry: Duration?

    /// The name of an event that counts also without data, which browsers would pass over; nil for none.
    package var typeWithoutData: String?

    private let maxEventBytes: Int
    private var isTooLarge = false
    /// What was fed; up to `position` it was looked at.
    private var bytes: [UInt8] = []
    private var position = 0
    /// The beginning of a line whose end has not come.
    private var line: [UInt8] = []
    private var isFirstLine = true
    /// A line feed that comes next belongs to the carriage return before it.
    private var skipsLineFeed = false
    private var type = ""
    /// Each line of data with a line feed behind it.
    private var data: [UInt8] = []
    /// The id that the event being read is to have.
    private var id: String

    /// A stream of which nothing was read.
    ///
    /// - Parameters:
    ///   - lastEventID: the id of events before the first that has one: where a stream goes on, that of the stream
    ///     before, as browsers have it.
    ///   - maxEventBytes: the most that an event's data or one line may hold, 16 MiB by default.
    public init(lastEventID: String = "", maxEventBytes: Int = 16 << 20) {
        self.lastEventID = lastEventID
        id = lastEventID
        self.maxEventBytes = maxEventBytes
    }

    /// Takes bytes in; `next()` makes events of them. They stay in memory until it has given nil.
    public mutating func feed(_ bytes: Data) {
        if position == self.bytes.count {
            self.bytes.removeAll(keepingCapacity: true)
            position = 0
        }
        self.bytes += bytes
    }

    /// The next event; nil where more bytes are needed.
    ///
    /// - Throws: `NetworkError` of kind `.tooLarge` where a line or an event is longer than allowed, and every time from
    ///   then on.
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

    /// Puts what there is up to the end of a line into `line`; false where the end has not come.
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

    /// Takes a whole line for what it means. An empty one ends an event.
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
        // A comment is a field without a name.
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
        guard !data.isEmpty || !type.isEmpty && type == typeWithoutData else { return nil }
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
