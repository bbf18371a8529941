import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The body of an answer in pieces, each with the wait before it.
struct ReplayBody: Sendable {
    private typealias Piece = (data: Data, wait: Duration)

    private let next: @Sendable () async throws -> Piece?
    /// What comes behind the last piece instead of the end.
    private let failure: NetworkError?
    private let clock: any Clock<Duration>
    /// How long all pieces may take together, and how many bytes they may have; nil for any.
    private let limits: (time: Duration?, bytes: Int?)

    private static let pieceSize = 64 << 10
    /// Into how many pieces at most a body that took its time is cut, and how small they may get.
    private static let (dribbles, leastDribble) = (16, 1 << 10)

    /// - Parameter limits: how long the body may take, and how many bytes it may have.
    /// - Throws: `NetworkError` where the recording does not have it.
    init(
        _ answer: ReplayAnswer,
        of recording: Recording,
        _ timing: ReplayTiming.Waits,
        _ clock: any Clock<Duration>,
        limits: (time: Duration?, bytes: Int?)
    ) throws(NetworkError) {
        self.clock = clock
        self.limits = limits
        let events = answer.hasBody ? answer.events : []
        if !events.isEmpty {
            failure = answer.failure
            next = Self.pieces(of: events, timing)
        } else if answer.hasBody {
            let (kept, missing) = try recording.kept(of: answer.response.body)
            failure = answer.failure ?? missing
            next = Self.pieces(of: kept, timing)
        } else {
            failure = answer.failure
            next = { nil }
        }
    }

    /// The first event comes with the head, each other as long after the one before as it did.
    private static func pieces(
        of events: [LoggedMessage],
        _ timing: ReplayTiming.Waits
    ) -> @Sendable () async throws -> Piece? {
        let place = Lock(0)
        return {
            let index = place.withLock { place in
                defer { place += 1 }
                return place
            }
            guard index < events.count else { return nil }
            let (event, last) = (events[index], events[max(index - 1, 0)])
            // No wait that a clock could not count.
            let gap = min(max(event.time.timeIntervalSince(last.time), 0) * timing.scale, 1e9)
            return (event.data + Data("\n\n".utf8), timing.cut(.seconds(gap)))
        }
    }

    private static func pieces(
        of body: HTTPBody,
        _ timing: ReplayTiming.Waits
    ) -> @Sendable () async throws -> Piece? {
        let count = body.length ?? 0
        let read: HTTPBody.Reader =
            switch body.content {
            case .data(let data): cut(data, into: timing.body == .zero ? pieceSize : dribble(of: data.count))
            case .stream(_, _, let open): open()
            case .file(let path): FileReader(path: path).next
            }
        return {
            guard let data = try await read() else { return nil }
            return (data, timing.cut(timing.body * (Double(data.count) / Double(max(count, 1)))))
        }
    }

    private static func dribble(of count: Int) -> Int { max((count + dribbles - 1) / dribbles, leastDribble) }

    private static func cut(_ data: Data, into size: Int) -> HTTPBody.Reader {
        let rest = Lock(data)
        return {
            rest.withLock { rest in
                defer { rest = rest.dropFirst(size) }
                return rest.isEmpty ? nil : rest.prefix(size)
            }
        }
    }

    /// The body as it is read.
    ///
    /// - Parameters:
    ///   - onChunk: hears how large each piece is.
    ///   - onEnd: hears that all have come.
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
            try await clock.pass(piece.wait, limit: rest.withLock { $0.time }, during: .body)
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

extension ReplayAnswer {
    /// Whether its body has no end that was known before.
    var isEventStream: Bool { MediaType(head.headerFields[single: .contentType] ?? "")?.essence == "text/event-stream" }

    /// The events of an event stream, where they were written down as they came.
    fileprivate var events: [LoggedMessage] {
        isEventStream ? entry.messages.filter { $0.direction == .receive } : []
    }
}

extension Clock<Duration> {
    /// Waits.
    ///
    /// - Parameter limit: where it ends in an error of kind `.timeout`, as a transfer would; nil for never.
    func pass(_ wait: Duration, limit: Duration?, during phase: NetworkError.Phase) async throws(NetworkError) {
        try await NetworkError.catching {
            try Task.checkCancellation()
            let wait = (due: limit.map { min(wait, $0) } ?? wait, isCut: limit.map { $0 < wait } ?? false)
            if wait.due > .zero { try await sleep(for: wait.due) }
            guard wait.isCut else { return }
            throw NetworkError(
                .timeout,
                during: phase,
                "the recorded response takes longer than the \(limit ?? .zero) allowed",
                advice: "increase the limit in Timeouts, or replay faster with ReplayTiming"
            )
        }
    }
}

extension Recording {
    /// What was kept of a body, how many bytes that are, and why there are no more of them; nil where they are all.
    ///
    /// - Throws: `NetworkError` where nothing is there although there was something.
    func kept(of body: LoggedBody) throws(NetworkError) -> (HTTPBody, missing: NetworkError?) {
        if case .omitted(let reason) = body.content {
            // Archives leave out what was empty.
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
