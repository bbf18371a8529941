import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The body of a response in pieces, each with the time to wait before it.
struct ReplayBody: Sendable {
    private typealias Piece = (data: Data, wait: Duration)

    private let next: @Sendable () async throws -> Piece?
    /// The error after the last piece; `nil` for a regular end.
    private let failure: NetworkError?
    private let clock: any Clock<Duration>
    /// The maximum duration and size of the body; `nil` if unlimited.
    private let limits: (time: Duration?, bytes: Int?)

    private static let pieceSize = 64 << 10
    /// The maximum number of pieces into which a slow body is split, and their minimum size in bytes.
    private static let (maxPieces, minPieceSize) = (16, 1 << 10)

    /// Creates the body of a response.
    ///
    /// - Parameter limits: the maximum duration of the body, and its maximum size in bytes.
    /// - Throws: `NetworkError` if the recording doesn't contain the body.
    init(
        _ replayed: ReplayResponse,
        of recording: Recording,
        _ timing: ReplayTransport.Timing.Delays,
        _ clock: any Clock<Duration>,
        limits: (time: Duration?, bytes: Int?)
    ) throws(NetworkError) {
        self.clock = clock
        self.limits = limits
        let events = replayed.hasBody ? replayed.events : []
        if !events.isEmpty {
            failure = replayed.failure
            next = Self.pieces(of: events, timing)
        } else if replayed.hasBody {
            let (kept, missing) = try recording.playableBody(of: replayed.response.body)
            failure = replayed.failure ?? missing
            next = Self.pieces(of: kept, timing)
        } else {
            failure = replayed.failure
            next = { nil }
        }
    }

    /// Returns a reader of events. The first event comes with the head, and the intervals between the others are the
    /// recorded ones.
    private static func pieces(
        of events: [LogEntry.Message],
        _ timing: ReplayTransport.Timing.Delays
    ) -> @Sendable () async throws -> Piece? {
        let place = Lock(0)
        return {
            let index = place.withLock { place in
                defer { place += 1 }
                return place
            }
            guard index < events.count else { return nil }
            let (event, last) = (events[index], events[max(index - 1, 0)])
            // An upper bound that clocks can handle.
            let gap = min(max(event.time.timeIntervalSince(last.time), 0) * timing.scale, 1e9)
            return (event.data + Data("\n\n".utf8), timing.clamped(.seconds(gap)))
        }
    }

    private static func pieces(
        of body: HTTPBody,
        _ timing: ReplayTransport.Timing.Delays
    ) -> @Sendable () async throws -> Piece? {
        let count = body.length ?? 0
        let read: HTTPBody.Reader =
            switch body.content {
            case .data(let data): cut(data, into: timing.body == .zero ? pieceSize : pieceSize(of: data.count))
            case .stream(_, _, let open): open()
            case .file(let path): FileReader(path: path).next
            }
        return {
            guard let data = try await read() else { return nil }
            return (data, timing.clamped(timing.body * (Double(data.count) / Double(max(count, 1)))))
        }
    }

    private static func pieceSize(of count: Int) -> Int { max((count + maxPieces - 1) / maxPieces, minPieceSize) }

    private static func cut(_ data: Data, into size: Int) -> HTTPBody.Reader {
        let rest = Lock(data)
        return {
            rest.withLock { rest in
                defer { rest = rest.dropFirst(size) }
                return rest.isEmpty ? nil : rest.prefix(size)
            }
        }
    }

    /// Returns the body as a stream.
    ///
    /// - Parameters:
    ///   - onChunk: called with the size of each piece in bytes.
    ///   - onEnd: called after the last piece.
    func stream(
        _ onChunk: @escaping @Sendable (Int) -> Void,
        _ onEnd: @escaping @Sendable () -> Void
    ) -> HTTPBody {
        let rest = Lock((time: limits.time, bytes: limits.bytes))
        let reader: HTTPBody.Reader = {
            guard let piece = try await next() else {
                if let failure { throw failure }
                onEnd()
                return nil
            }
            try await clock.wait(piece.wait, limit: rest.withLock { $0.time }, during: .body)
            let left = rest.withLock { rest in
                rest.time = rest.time.map { $0 - piece.wait }
                rest.bytes = rest.bytes.map { $0 - piece.data.count }
                return rest.bytes ?? 0
            }
            guard left >= 0 else {
                let limit = limits.bytes ?? 0
                throw NetworkError(.tooLarge, during: .body, "the body is larger than the \(limit) bytes allowed")
            }
            onChunk(piece.data.count)
            return piece.data
        }
        return HTTPBody(.stream(length: nil, isReplayable: false) { reader })
    }
}

extension ReplayResponse {
    /// Whether the body is an event stream, whose end is unknown in advance.
    var isEventStream: Bool { MediaType(head.headerFields[single: .contentType] ?? "")?.essence == "text/event-stream" }

    /// The recorded events, if the body is an event stream.
    fileprivate var events: [LogEntry.Message] {
        isEventStream ? entry.messages.filter { $0.direction == .receive } : []
    }
}

extension Clock<Duration> {
    /// Waits for a duration.
    ///
    /// - Parameter limit: the duration after which an error of kind `.timeout` is thrown, as a transfer would; `nil` if
    ///   unlimited.
    func wait(_ wait: Duration, limit: Duration?, during phase: NetworkError.Phase) async throws(NetworkError) {
        try await NetworkError.catching {
            try Task.checkCancellation()
            let wait = (due: limit.map { min(wait, $0) } ?? wait, isCut: limit.map { $0 < wait } ?? false)
            if wait.due > .zero { try await sleep(for: wait.due) }
            guard wait.isCut else { return }
            throw NetworkError(
                .timeout,
                during: phase,
                "the recorded response takes longer than the \(limit ?? .zero) allowed",
                advice: "increase the limit in Timeouts, or replay faster with ReplayTransport.Timing"
            )
        }
    }
}

extension Recording {
    /// Returns the recorded part of a body, and the error that states what is missing; `nil` if the body is complete.
    ///
    /// - Throws: `NetworkError` if nothing of a body was recorded.
    func playableBody(of body: LogEntry.Body) throws(NetworkError) -> (HTTPBody, missing: NetworkError?) {
        if case .omitted(let reason) = body.content {
            // Archives omit empty bodies.
            guard body.size > 0 || (body.size < 0 && body.isTruncated) else { return (HTTPBody(), nil) }
            let bytes = body.size > 0 ? "body of \(body.size) bytes" : "body"
            throw NetworkError(
                .notInRecording,
                during: .body,
                "the recording has the head of this response, but not its \(bytes): \(reason)"
            )
        }
        let kept = try self.body(of: body)
        guard body.isTruncated else { return (kept, nil) }
        let whole = body.size >= 0 ? "of \(body.size)" : "of a longer body"
        return (
            kept,
            NetworkError(
                .truncated,
                during: .body,
                "the recording has only the first \(kept.length ?? 0) bytes \(whole)",
                advice: "record it again; for a log, increase RequestLog.Options.maxBodyBytes"
            )
        )
    }
}
