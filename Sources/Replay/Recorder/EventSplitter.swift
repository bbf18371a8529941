#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A splitter of an event stream's bytes into events, without the empty line that ends each event.
///
/// The text of events is unchanged, except that lines end with a line feed. Source:
/// https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
struct EventSplitter: Sendable {
    /// The maximum size of an event in bytes; longer events are discarded.
    private static let limit = 1 << 20

    private var event = Data()
    private var isAtLineStart = true
    /// Whether a line feed that follows belongs to the carriage return before it.
    private var skipsLineFeed = false
    private var isTooLong = false

    /// Adds bytes and returns the events that they complete.
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
        // Removes the line feed of the last line.
        return event.isEmpty ? nil : Data(event.dropLast())
    }
}
