#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Cuts the bytes of an event stream into events as they came, without the empty line behind each. Source:
/// https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
struct EventSplitter: Sendable {
    /// The longest event that is kept, in bytes.
    private static let limit = 1 << 20

    private var event = Data()
    private var isAtLineStart = true
    /// A line feed that comes next belongs to the carriage return before it.
    private var skipsLineFeed = false
    private var isTooLong = false

    /// Takes bytes in and gives the events that they end.
    mutating func feed(_ bytes: Data) -> [Data] {
        var events: [Data] = []
        for byte in bytes {
            let isSkipped = skipsLineFeed && byte == UInt8(ascii: "\n")
            skipsLineFeed = byte == UInt8(ascii: "\r")
            if isSkipped { continue }
            let isLineEnd = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            if isLineEnd, isAtLineStart {
                if let event = take() { events.append(event) }
            } else {
                append(isLineEnd ? UInt8(ascii: "\n") : byte)
                isAtLineStart = isLineEnd
            }
        }
        return events
    }

    private mutating func append(_ byte: UInt8) {
        isTooLong = isTooLong || event.count >= Self.limit
        if isTooLong { event = Data() } else { event.append(byte) }
    }

    private mutating func take() -> Data? {
        defer {
            event = Data()
            isTooLong = false
        }
        // Its last line has an end of its own.
        return event.isEmpty ? nil : Data(event.dropLast())
    }
}
