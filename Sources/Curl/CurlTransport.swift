public import BeagleNetHTTP

/// A transport that performs HTTP transfers and opens WebSockets with libcurl.
///
/// It runs on an event-loop thread of its own, and on a second one for long-lived transfers. Each thread has a
/// connection pool that all its transfers share. HTTP/2 connections carry many transfers at the same time. A thread
/// starts with its first transfer.
///
/// Event streams, and requests with `TransferOptions.isLongLived`, run on the second thread. A transfer on the first
/// thread that turns out to be long-lived, because it is an event stream or its response takes longer than
/// `CurlTransport.Configuration.longLivedAfter`, stays there. Later requests for its path run on the second thread, and
/// other requests to its host on a third.
///
/// When the transport is released, transfers in flight run to completion; `shutDown()` ends them immediately. Either
/// way each completion is called exactly once. After a `fork`, the child process opens its own connections.
public final class CurlTransport: HTTPTransport {
    private struct State {
        /// The running loops, by the raw value of their role.
        var loops = LoopRole.allCases.map { _ in nil as LoopOwner? }
        /// `ForkCount.now` when the loops were started.
        var forks = 0
        /// The task that listens for network changes.
        var listening: Task<Void, Never>?
    }

    private let state = Lock(State())
    let configuration: Configuration
    private let isPortable: Bool
    private let streams = LongLivedRequestHistory()
    let resourceTracker = ResourceTracker.current

    /// Creates a transport with its own connections.
    public convenience init(_ configuration: Configuration = Configuration()) {
        self.init(configuration, isPortable: false)
    }

    /// - Parameter isPortable: Whether to wait with `curl_multi_poll`, as on systems without epoll.
    package init(_ configuration: Configuration = Configuration(), isPortable: Bool) {
        self.configuration = configuration
        self.isPortable = isPortable
        guard let changes = configuration.networkChanges else { return }
        let listening = Task { [weak self] in
            for await _ in changes { self?.networkDidChange() }
        }
        state.withLock { $0.listening = listening }
    }

    deinit {
        state.withLock { $0.listening }?.cancel()
    }

    /// Ends all transfers in flight with `NetworkError.Kind.shutdown` and closes the connections.
    ///
    /// The transport stays usable: the next transfer starts a new thread.
    public func shutDown() {
        for owner in takeLoops() { owner.loop.post(.shutDown) }
    }

    /// Leaves the loops and their connections to their current transfers; the next transfer starts a new loop.
    private func networkDidChange() {
        configuration.altSvc?.networkDidChange()
        for owner in takeLoops() { owner.loop.post(.networkDidChange) }
    }

    private func takeLoops() -> [LoopOwner] {
        state.withLock { state in
            defer { state.loops = State().loops }
            return state.loops.compactMap(\.self)
        }
    }

    /// Starts a transfer; see `HTTPTransport`.
    ///
    /// `completion` must not block, because it is called on the loop's thread.
    @discardableResult
    public func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken {
        do throws(NetworkError) {
            let owner = try owner(for: streams.role(of: request))
            let transfer = Transfer(request, on: owner.loop)
            withExtendedLifetime(owner) { transfer.start(.callback(completion)) }
            return transfer
        } catch {
            Task { completion(.failure(error)) }
            return AnyRequestToken()
        }
    }

    /// Performs a transfer and waits for its response.
    ///
    /// Cancelling the task cancels the transfer.
    nonisolated(nonsending) public func perform(
        _ request: TransferRequest
    ) async throws(NetworkError) -> TransferResponse {
        let (owner, transfer) = try transfer(of: request)
        let actor = #isolation
        await suspend { continuation in
            withExtendedLifetime(owner) { transfer.start(.task(WaitingTask(continuation, on: actor))) }
        } onCancel: {
            transfer.cancel()
        }
        return try transfer.takeResponse()
    }

    /// Creates the transfer of a request. Never inlined, like `takeResponse`, to keep temporary values out of the frame
    /// of each waiting task.
    @inline(never) private func transfer(of request: TransferRequest) throws(NetworkError) -> (LoopOwner, Transfer) {
        let owner = try owner(for: streams.role(of: request))
        return (owner, Transfer(request, on: owner.loop))
    }

    /// Returns the owner of the running loop with this role, or `nil` if no such loop is running.
    func runningOwner(for role: LoopRole) -> LoopOwner? {
        state.withLock { $0.forks == ForkCount.now ? $0.loops[role.rawValue] : nil }
    }

    /// Returns the owner of the loop with this role, starting the loop if necessary. Retain the owner while posting to
    /// the loop.
    func owner(for role: LoopRole) throws(NetworkError) -> LoopOwner {
        try state.withLock { state throws(NetworkError) in
            let forks = ForkCount.now
            if state.forks != forks {
                // The parent's loops have no thread in this process. They are leaked on purpose: closing them would end
                // connections that the parent still uses.
                for case let inherited? in state.loops { _ = Unmanaged.passRetained(inherited) }
                state.loops = State().loops
                state.forks = forks
            }
            if let owner = state.loops[role.rawValue] { return owner }
            try configuration.validate()
            let loop = try EventLoop(
                configuration,
                role,
                streams,
                portable: isPortable,
                resourceTracker: resourceTracker
            )
            let owner = LoopOwner(loop)
            state.loops[role.rawValue] = owner
            return owner
        }
    }
}

extension CurlTransport: CookieTransport {
    package var storesCookies: Bool { configuration.cookies != nil }
}

extension CurlTransport: ConnectionTransport {
    /// Counts the connections of all running loops, without those of a previous network.
    package func openConnections() async -> ConnectionCount {
        var all = ConnectionCount()
        for case let owner? in LoopRole.allCases.map({ runningOwner(for: $0) }) {
            let count = await withUnsafeContinuation { owner.loop.post(.count($0)) }
            all.active += count.active
            all.idle += count.idle
        }
        return all
    }
}

/// The owner of a loop, which ends once no transport owns it and no caller is posting to it.
final class LoopOwner: Sendable {
    let loop: EventLoop

    init(_ loop: EventLoop) {
        self.loop = loop
    }

    deinit {
        loop.post(.finish)
    }
}
