import BeagleNet
package import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Splits the bytes of a streamed response into payloads: the parts of a `multipart/mixed` body, the events of a
/// `text/event-stream`, the lines of `application/jsonl`, or a body that is a single payload.
///
/// Feed it the received bytes in chunks of any size, and take payloads until it returns `nil`. It skips heartbeats,
/// which are empty objects.
package struct GraphQLPayloadReader: Sendable {
    private enum Framing: Sendable {
        case parts(MultipartReader)
        case events(EventStream)
        case lines
        case whole
    }

    private let maxPayloadBytes: Int
    /// The error thrown for a payload that exceeds `maxPayloadBytes`.
    private let tooLargeError: NetworkError
    private var framing: Framing
    /// The bytes of the current part for multipart bodies; otherwise the bytes that were fed and not yet returned.
    private var bytes = Data()
    /// The number of bytes of `bytes` that were already searched.
    private var searchedCount = 0
    private var endFinder = JSONEndFinder()
    /// Whether the stream has signalled its end. Later bytes are ignored.
    package private(set) var isFinished = false
    /// The ID of the last event read, including skipped ones; empty before the first ID.
    package private(set) var lastEventID: String
    /// The server's delay for reconnecting to its event stream, or `nil` if it sent none.
    package private(set) var reconnectionTime: Duration?

    /// Returns whether a body of this type is a stream of payloads.
    package static func isStream(_ contentType: String?) -> Bool {
        let essence = contentType.flatMap(MediaType.init)?.essence
        return essence.map { ["multipart/mixed", MediaType.eventStream].contains($0) || isLines($0) } ?? false
    }

    private static func isLines(_ essence: String) -> Bool {
        ["application/jsonl", "application/x-ndjson", "application/graphql-response+jsonl"].contains(essence)
    }

    /// Creates a reader for a body of a content type.
    ///
    /// - Parameters:
    ///   - maxPayloadBytes: The maximum size of a payload in bytes, 64 MiB by default.
    ///   - lastEventID: The ID of the event after which the stream continues.
    ///   - tooLargeError: The error thrown for a larger payload, if the limit came from another setting. `nil`, the
    ///     default, uses an error that names `maxPayloadBytes`.
    /// - Throws: `NetworkError` of kind `.protocol` if a multipart type has no boundary.
    package init(
        contentType: String?,
        maxPayloadBytes: Int = 64 << 20,
        after lastEventID: String = "",
        tooLargeError: NetworkError? = nil
    ) throws(NetworkError) {
        self.maxPayloadBytes = maxPayloadBytes
        self.tooLargeError = tooLargeError ?? .payloadTooLarge(maxPayloadBytes)
        self.lastEventID = lastEventID
        let contentType = contentType ?? ""
        switch MediaType(contentType)?.essence {
        case "multipart/mixed":
            framing = .parts(try MultipartReader(contentType: contentType, acceptsLineFeeds: true))
        case MediaType.eventStream:
            var stream = EventStream(lastEventID: lastEventID, maxEventBytes: maxPayloadBytes)
            // Servers that aren't meant for browsers send this event without data.
            stream.typeAllowingEmptyData = "complete"
            framing = .events(stream)
        case let essence?: framing = Self.isLines(essence) ? .lines : .whole
        case nil: framing = .whole
        }
    }

    /// Adds received bytes, from which `next()` reads payloads.
    package mutating func feed(_ chunk: Data) {
        guard !isFinished else { return }
        switch framing {
        case .parts(var reader):
            // Moved out, so that its buffer has a single owner and isn't copied for each chunk.
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

    /// Returns the next payload, or `nil` if more bytes are needed or the stream has ended.
    ///
    /// - Throws: `NetworkError`: `.tooLarge` if a payload is too large, `.protocol` if the framing is invalid,
    ///   `.decoding` if a payload is followed by other content.
    package mutating func next() throws(NetworkError) -> Data? {
        while !isFinished {
            guard let payload = try nextFrame() else { return nil }
            if !payload.isHeartbeat { return payload }
        }
        return nil
    }

    /// Signals the end of the body.
    ///
    /// - Returns: The last payload, if only the end of the body completes it.
    /// - Throws: `NetworkError` of kind `.truncated` if the stream hasn't signalled its end.
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
        if count > maxPayloadBytes { throw tooLargeError }
    }

    // MARK: parts

    /// Returns the next payload. It is complete at its last bracket, because the boundary after it may arrive only with
    /// the next payload.
    private mutating func nextPart(_ reader: inout MultipartReader) throws(NetworkError) -> Data? {
        while let element = try reader.next() {
            switch element {
            case .head: (bytes, endFinder) = (Data(), JSONEndFinder())
            case .body(let piece):
                if let payload = try take(piece) { return payload }
            case .end:
                // The JSON parser rejects an incomplete payload.
                if !endFinder.isComplete, !bytes.isBlank { return bytes }
            }
        }
        isFinished = reader.isFinished
        return nil
    }

    private mutating func take(_ piece: Data) throws(NetworkError) -> Data? {
        let wasComplete = endFinder.isComplete
        let rest = endFinder.take(piece)
        guard rest.isBlank else {
            throw NetworkError(.decoding, during: .decode, "a part has data after its payload")
        }
        bytes.append(piece.dropLast(rest.count))
        try check(bytes.count)
        return endFinder.isComplete && !wasComplete ? bytes : nil
    }

    // MARK: events

    /// Events with names unknown to the protocol are skipped. Some servers send no event names
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
            // Reading an event fails only because of its size.
            throw tooLargeError
        }
    }

    // MARK: lines

    private mutating func nextLine() throws(NetworkError) -> Data? {
        while let end = bytes[(bytes.startIndex + searchedCount)...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = bytes[..<end]
            try check(line.count)
            bytes = bytes[(end + 1)...]
            searchedCount = 0
            if !line.isBlank { return Data(line) }
        }
        // Frees the memory of returned lines before more bytes are appended.
        if bytes.startIndex > 0 { bytes = Data(bytes) }
        searchedCount = bytes.count
        try check(searchedCount)
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

/// Finds the end of a JSON object or array without parsing its content.
private struct JSONEndFinder: Sendable {
    private var depth = 0
    private var isInText = false
    private var isEscaped = false
    private(set) var isComplete = false

    /// - Returns: The bytes after the end of the value.
    mutating func take(_ bytes: Data) -> Data {
        if isComplete { return bytes }
        let end = bytes.withUnsafeBytes { $0.firstIndex { consumes($0) } }
        return end.map { bytes.dropFirst($0 + 1) } ?? Data()
    }

    /// Returns whether this byte ends the value.
    private mutating func consumes(_ byte: UInt8) -> Bool {
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
    fileprivate var isBlank: Bool { allSatisfy(\.isJSONSpace) }

    /// Whether the payload is an empty object.
    fileprivate var isHeartbeat: Bool { count < 16 && filter { !$0.isJSONSpace }.elementsEqual("{}".utf8) }
}
