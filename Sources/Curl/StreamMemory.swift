import BeagleNetHTTP
import Synchronization

/// What a loop of a transport is for. libcurl looks through all connections of a host for each request, so requests
/// that last are kept apart from those that don't.
enum LoopRole: Int, CaseIterable {
    /// Everything that has no reason to be elsewhere.
    case ordinary
    /// What goes to an origin whose streams are parked on the ordinary one: a transfer that runs cannot move.
    case spare
    /// Streams, long polls and WebSockets.
    case lasting
}

/// Chooses the loop of each request, and remembers which paths were found to last.
///
/// What lasts is known by `TransferOptions.isLongLived`, by an `Accept` that begins with `text/event-stream`, or by a
/// request to the same path before that did. Where more than 16 paths of an origin last, all its streams are taken to. Of
/// origins the last 64 are remembered.
final class StreamMemory: Sendable {
    private struct Site: Hashable {
        let scheme: String?
        let authority: String?

        init(_ head: HTTPRequest) {
            scheme = head.scheme
            authority = head.authority
        }
    }

    private struct Streams {
        var paths: Set<String> = []
        /// Whether one of them is, or was, on the ordinary loop.
        var isParked = false
        /// When one was last found, counted in such finds.
        var number = 0
    }

    private struct State {
        var sites: [Site: Streams] = [:]
        var finds = 0
    }

    private static let maxSites = 64
    private static let maxPaths = 16

    private let isEmpty = Atomic(true)
    private let state = Lock(State())

    /// The loop that a request is to run on.
    func role(of request: TransferRequest) -> LoopRole {
        if request.options.extras?.isLongLived == true || request.wantsEvents { return .lasting }
        if isEmpty.load(ordering: .relaxed) { return .ordinary }
        return state.withLock { state in
            guard let streams = state.sites[Site(request.head)] else { return .ordinary }
            let isForAll = streams.paths.count > Self.maxPaths && request.delivery == .stream
            if isForAll || streams.paths.contains(request.head.pathWithoutQuery) { return .lasting }
            return streams.isParked ? .spare : .ordinary
        }
    }

    /// A request was found to last.
    func note(_ request: TransferRequest, on role: LoopRole) {
        isEmpty.store(false, ordering: .relaxed)
        state.withLock { state in
            state.finds += 1
            var streams = state.sites[Site(request.head)] ?? Streams()
            if streams.paths.count <= Self.maxPaths { streams.paths.insert(request.head.pathWithoutQuery) }
            streams.isParked = streams.isParked || role == .ordinary
            streams.number = state.finds
            state.sites[Site(request.head)] = streams
            guard state.sites.count > Self.maxSites,
                let oldest = state.sites.min(by: { $0.value.number < $1.value.number })
            else { return }
            state.sites[oldest.key] = nil
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
    /// Whether the answer is a stream of server-sent events.
    var isEventStream: Bool {
        contentType.flatMap(MediaType.init)?.essence == MediaType.eventStream
    }
}
