import BeagleNet
package import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Makes payloads of the bytes of a streamed answer, however they are cut: the parts of a `multipart/mixed`, the events of
/// a `text/event-stream`, the lines of an `application/jsonl`, or a body that is one payload.
///
/// Feed it what comes, and take payloads until there is none. Heartbeats, which are empty objects, are passed over.
package struct GraphQLPayloadReader: Sendable {
    private enum Framing: Sendable {
        case parts(MultipartReader)
        case events(EventStream)
        case lines
        case whole
    }

    private let maxPayloadBytes: Int
    /// What is thrown where a payload has more.
    private let excess: NetworkError
    private var framing: Framing
    /// Of parts what the one that is read has so far; else what was fed and not taken.
    private var bytes = Data()
    /// How much of `bytes` was looked at.
    private var seen = 0
    private var balance = JSONBalance()
    /// Whether the stream has said that it is over: nothing after that counts.
    package private(set) var isFinished = false
    /// Of events the id of the last that was read, the payload given last or one passed over behind it; empty where there is
    /// none.
    package private(set) var lastEventID: String
    /// Of events how long the server wants clients to wait before they connect again; nil where it did not say.
    package private(set) var reconnectionTime: Duration?

    /// Whether a body of this type is made of payloads that come one after another.
    package static func isStream(_ contentType: String?) -> Bool {
        let essence = contentType.flatMap(MediaType.init)?.essence
        return essence.map { ["multipart/mixed", MediaType.eventStream].contains($0) || isLines($0) } ?? false
    }

    private static func isLines(_ essence: String) -> Bool {
        ["application/jsonl", "application/x-ndjson", "application/graphql-response+jsonl"].contains(essence)
    }

    /// A reader of a body of this type.
    ///
    /// - Parameters:
    ///   - maxPayloadBytes: the most bytes that one payload may have, 64 MiB by default.
    ///   - lastEventID: the id of the event behind which it goes on.
    ///   - excess: what is thrown where a payload has more bytes, in words of who set the limit; nil, the default, names
    ///     `maxPayloadBytes`.
    /// - Throws: `NetworkError` of kind `.protocol` where it is of parts and names no boundary.
    package init(
        contentType: String?,
        maxPayloadBytes: Int = 64 << 20,
        behind lastEventID: String = "",
        excess: NetworkError? = nil
    ) throws(NetworkError) {
        self.maxPayloadBytes = maxPayloadBytes
        self.excess = excess ?? .payloadTooLarge(maxPayloadBytes)
        self.lastEventID = lastEventID
        let contentType = contentType ?? ""
        switch MediaType(contentType)?.essence {
        case "multipart/mixed":
            framing = .parts(try MultipartReader(contentType: contentType, acceptsLineFeeds: true))
        case MediaType.eventStream:
            var stream = EventStream(lastEventID: lastEventID, maxEventBytes: maxPayloadBytes)
            // Servers that no browser has to understand write no data with it.
            stream.typeWithoutData = "complete"
            framing = .events(stream)
        case let essence?: framing = Self.isLines(essence) ? .lines : .whole
        case nil: framing = .whole
        }
    }

    /// Takes bytes in; `next()` makes payloads of them.
    package mutating func feed(_ chunk: Data) {
        guard !isFinished else { return }
        switch framing {
        case .parts(var reader):
            // So that what it holds has one owner, and is not copied for each chunk.
            framing = .whole
            reader.feed(chunk)
            framing = .parts(reader)
        case .events(var stream):
            framing = .whole
            stream.feed(chunk)
            framing = .events(stream)
        case .lines, .whole: bytes.append(chunk)
        }
    }

    /// The next payload; nil where more bytes are needed, or none will come.
    ///
    /// - Throws: `NetworkError`: `.tooLarge` where a payload is, `.protocol` where the frames are broken, `.decoding` where
    ///   something else stands behind a payload.
    package mutating func next() throws(NetworkError) -> Data? {
        while !isFinished {
            guard let payload = try nextFrame() else { return nil }
            if !payload.isHeartbeat { return payload }
        }
        return nil
    }

    /// Says that the body has ended.
    ///
    /// - Returns: the payload that only this end has ended.
    /// - Throws: `NetworkError` of kind `.truncated` where the stream has not said that it is over.
    package mutating func finish() throws(NetworkError) -> Data? {
        guard !isFinished else { return nil }
        switch framing {
        case .parts(let reader): try reader.finish()
        case .events:
            throw NetworkError(.truncated, during: .body, "the event stream ended before its \"complete\" event")
        case .lines, .whole:
            isFinished = true
            let rest = bytes
            bytes = Data()
            return rest.isBlank || rest.isHeartbeat ? nil : rest
        }
        return nil
    }
}

extension GraphQLPayloadReader {
    private mutating func nextFrame() throws(NetworkError) -> Data? {
        switch framing {
        case .parts(var reader):
            framing = .whole
            defer { framing = .parts(reader) }
            return try nextPart(&reader)
        case .events(var stream):
            framing = .whole
            defer { framing = .events(stream) }
            return try nextEvent(&stream)
        case .lines: return try nextLine()
        case .whole:
            try check(bytes.count)
            return nil
        }
    }

    private func check(_ count: Int) throws(NetworkError) {
        if count > maxPayloadBytes { throw excess }
    }

    // MARK: parts

    /// A payload is there with its last bracket: the boundary behind it may come only with the next one.
    private mutating func nextPart(_ reader: inout MultipartReader) throws(NetworkError) -> Data? {
        while let element = try reader.next() {
            switch element {
            case .head: (bytes, balance) = (Data(), JSONBalance())
            case .body(let piece):
                if let payload = try take(piece) { return payload }
            case .end:
                // What has no end is for the parser to judge.
                if !balance.isComplete, !bytes.isBlank { return bytes }
            }
        }
        isFinished = reader.isFinished
        return nil
    }

    private mutating func take(_ piece: Data) throws(NetworkError) -> Data? {
        let wasComplete = balance.isComplete
        let rest = balance.take(piece)
        guard rest.isBlank else {
            throw NetworkError(.decoding, during: .decode, "a part has data after its payload")
        }
        bytes.append(piece.dropLast(rest.count))
        try check(bytes.count)
        return balance.isComplete && !wasComplete ? bytes : nil
    }

    // MARK: events

    /// What has another name than those of the protocol is passed over; some servers give no name
    /// (https://github.com/graphql/graphql-over-http/blob/main/rfcs/GraphQLOverSSE.md).
    private mutating func nextEvent(_ stream: inout EventStream) throws(NetworkError) -> Data? {
        defer { (lastEventID, reconnectionTime) = (stream.lastEventID, stream.retry) }
        while let event = try next(of: &stream) {
            if event.type == "complete" {
                isFinished = true
                return nil
            }
            if ["next", "message"].contains(event.type), !event.data.isEmpty { return Data(event.data.utf8) }
        }
        return nil
    }

    private func next(of stream: inout EventStream) throws(NetworkError) -> EventStream.Event? {
        do throws(NetworkError) {
            return try stream.next()
        } catch {
            // An event fails for its size alone.
            throw excess
        }
    }

    // MARK: lines

    private mutating func nextLine() throws(NetworkError) -> Data? {
        while let end = bytes[(bytes.startIndex + seen)...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = bytes[..<end]
            try check(line.count)
            bytes = bytes[(end + 1)...]
            seen = 0
            if !line.isBlank { return Data(line) }
        }
        // What was taken leaves memory before more comes.
        if bytes.startIndex > 0 { bytes = Data(bytes) }
        seen = bytes.count
        try check(seen)
        return nil
    }
}

extension NetworkError {
    fileprivate static func payloadTooLarge(_ maxPayloadBytes: Int) -> NetworkError {
        NetworkError(
            .tooLarge,
            during: .body,
            "a payload of the response is larger than the \(maxPayloadBytes) bytes allowed",
            advice: "increase maxPayloadBytes"
        )
    }
}

/// Tells where a JSON object or array ends, without reading what it holds.
private struct JSONBalance: Sendable {
    private var depth = 0
    private var isInText = false
    private var isEscaped = false
    private(set) var isComplete = false

    /// - Returns: what stands behind its end.
    mutating func take(_ bytes: Data) -> Data {
        if isComplete { return bytes }
        let end = bytes.withUnsafeBytes { $0.firstIndex { takes($0) } }
        return end.map { bytes.dropFirst($0 + 1) } ?? Data()
    }

    /// Whether this byte ends it.
    private mutating func takes(_ byte: UInt8) -> Bool {
        if isEscaped {
            isEscaped = false
        } else if isInText {
            isInText = byte != UInt8(ascii: "\"")
            isEscaped = byte == UInt8(ascii: "\\")
        } else {
            switch byte {
            case UInt8(ascii: "\""): isInText = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                isComplete = depth <= 0
            default: break
            }
        }
        return isComplete
    }
}

extension Data {
    fileprivate var isBlank: Bool { allSatisfy(\.isBlank) }

    /// Whether it is an empty object.
    fileprivate var isHeartbeat: Bool { count < 16 && filter { !$0.isBlank }.elementsEqual("{}".utf8) }
}

extension UInt8 {
    /// RFC 8259, 2.
    fileprivate var isBlank: Bool {
        switch self {
        case 0x20, 0x09, 0x0A, 0x0D: true
        default: false
        }
    }
}
