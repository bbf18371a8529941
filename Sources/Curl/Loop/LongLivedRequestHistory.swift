import BeagleNetHTTP
import Synchronization

/// The kind of transfers that a loop runs. libcurl searches all connections to a host for each request, so long-lived
/// transfers run on a loop of their own.
enum LoopRole: Int, CaseIterable {
    /// All transfers that don't need another loop.
    case ordinary
    /// Requests to an origin that has long-lived transfers on the ordinary loop, because a running transfer cannot
    /// move.
    case spare
    /// Streams, long polls and WebSockets.
    case longLived
}

/// The choice of a loop for each request, with a memory of the paths whose transfers were long-lived.
///
/// A request counts as long-lived if `TransferOptions.isLongLived` is set, if its `Accept` begins with
/// `text/event-stream`, or if an earlier request to the same path was long-lived. If an origin has more than 16 such
/// paths, all its streamed responses count as long-lived. The 64 most recent origins are remembered.
final class LongLivedRequestHistory: Sendable {
    private struct Key: Hashable {
        let scheme: String?
        let authority: String?

        init(_ head: HTTPRequest) {
            scheme = head.scheme
            authority = head.authority
        }
    }

    private struct Streams {
        var paths: Set<String> = []
        /// Whether one of its long-lived transfers has run on the ordinary loop.
        var isParked = false
        /// The value of `finds` at the most recent find for this origin.
        var number = 0
    }

    private struct State {
        var streams: [Key: Streams] = [:]
        var finds = 0
    }

    private static let maxKeys = 64
    private static let maxPaths = 16

    private let isEmpty = Atomic(true)
    private let state = Lock(State())

    /// Returns the role of the loop that a request runs on.
    func role(of request: TransferRequest) -> LoopRole {
        if request.options.extras?.isLongLived == true || request.expectsEventStream { return .longLived }
        if isEmpty.load(ordering: .relaxed) { return .ordinary }
        return state.withLock { state in
            guard let streams = state.streams[Key(request.head)] else { return .ordinary }
            let isForAll = streams.paths.count > Self.maxPaths && request.delivery == .stream
            if isForAll || streams.paths.contains(request.head.pathWithoutQuery) { return .longLived }
            return streams.isParked ? .spare : .ordinary
        }
    }

    /// Records that a request turned out to be long-lived.
    func note(_ request: TransferRequest, on role: LoopRole) {
        isEmpty.store(false, ordering: .relaxed)
        state.withLock { state in
            state.finds += 1
            var streams = state.streams[Key(request.head)] ?? Streams()
            if streams.paths.count <= Self.maxPaths { streams.paths.insert(request.head.pathWithoutQuery) }
            streams.isParked = streams.isParked || role == .ordinary
            streams.number = state.finds
            state.streams[Key(request.head)] = streams
            guard state.streams.count > Self.maxKeys,
                let oldest = state.streams.min(by: { $0.value.number < $1.value.number })
            else { return }
            state.streams[oldest.key] = nil
        }
    }
}

extension HTTPRequest {
    fileprivate var pathWithoutQuery: String {
        let path = path ?? "/"
        return path.utf8.firstIndex(of: UInt8(ascii: "?")).map { String(path[..<$0]) } ?? path
    }
}

extension RawHead {
    /// Whether the response is a stream of server-sent events.
    var isEventStream: Bool {
        contentType.flatMap(MediaType.init)?.essence == MediaType.eventStream
    }
}
