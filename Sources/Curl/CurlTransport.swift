public import BeagleNetHTTP

/// Performs HTTP transfers and opens WebSockets with libcurl, on one event-loop thread of its own, and on a second for
/// those that last.
///
/// Connections are pooled per thread and used by all its transfers; HTTP/2 ones by many at once. A thread starts with
/// its first transfer. Event streams, and what `TransferOptions.isLongLived` says, go to the second thread. What is
/// found to last on the first, because it is an event stream or has gone on for `CurlConfiguration.longLivedAfter`,
/// stays there: later requests for its path go to the second thread, and others to its host to a third. Releasing the
/// transport lets transfers in flight come to their end, `shutDown()` ends them at once; either way each completion is
/// called once. After a `fork` the child gets connections of its own.
public final class CurlTransport: HTTPTransport {
    private struct State {
        /// By the raw value of their role.
        var loops = LoopRole.allCases.map { _ in nil as LoopOwner? }
        /// `ForkCount.now` when the loops began.
        var forks = 0
        /// Listens for changes of the network.
        var listening: Task<Void, Never>?
    }

    private let state = Lock(State())
    let configuration: CurlConfiguration
    private let isPortable: Bool
    private let streams = StreamMemory()
    let ledger = Ledger.current

    /// A transport with its own connections.
    public convenience init(_ configuration: CurlConfiguration = CurlConfiguration()) {
        self.init(configuration, isPortable: false)
    }

    /// - Parameter isPortable: whether it waits with `curl_multi_poll`, as it does where there is no epoll.
    package init(_ configuration: CurlConfiguration = CurlConfiguration(), isPortable: Bool) {
        self.configuration = configuration
        self.isPortable = isPortable
        guard let changes = configuration.networkChanges else { return }
        let listening = Task { [weak self] in
            for await _ in changes { self?.leaveNetwork() }
        }
        state.withLock { $0.listening = listening }
    }

    deinit {
        state.withLock { $0.listening }?.cancel()
    }

    /// Ends all transfers in flight with `NetworkError.Kind.shutdown` and closes the connections. A transfer that
    /// is begun later starts anew.
    public func shutDown() {
        for owner in takeLoops() { owner.loop.post(.shutDown) }
    }

    /// Leaves the loops with their connections to the transfers that they have; the next one begins another.
    private func leaveNetwork() {
        configuration.altSvc?.leaveNetwork()
        for owner in takeLoops() { owner.loop.post(.leaveNetwork) }
    }

    private func takeLoops() -> [LoopOwner] {
        state.withLock { state in
            defer { state.loops = State().loops }
            return state.loops.compactMap(\.self)
        }
    }

    /// Starts a transfer; see `HTTPTransport`. `completion` must not block: the loop's thread calls it.
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

    /// Performs a transfer; cancelling the task cancels it.
    public func perform(_ request: TransferRequest) async throws(NetworkError) -> TransferResponse {
        let (owner, transfer) = try transfer(of: request)
        let actor = #isolation
        await suspend { continuation in
            withExtendedLifetime(owner) { transfer.start(.task(WaitingTask(continuation, on: actor))) }
        } onCancel: {
            transfer.cancel()
        }
        return try transfer.takeResponse()
    }

    /// Never inlined, as `takeResponse`: the frame of each task that waits would have room for what they work on.
    @inline(never) private func transfer(of request: TransferRequest) throws(NetworkError) -> (LoopOwner, Transfer) {
        let owner = try owner(for: streams.role(of: request))
        return (owner, Transfer(request, on: owner.loop))
    }

    /// Who has the running loop of this role; nil where none runs.
    func runningOwner(for role: LoopRole) -> LoopOwner? {
        state.withLock { $0.forks == ForkCount.now ? $0.loops[role.rawValue] : nil }
    }

    /// Who has the running loop of this role, begun where need be, to be held while something is handed to the loop.
    func owner(for role: LoopRole) throws(NetworkError) -> LoopOwner {
        try state.withLock { state throws(NetworkError) in
            let forks = ForkCount.now
            if state.forks != forks {
                // The parent's loops have no thread here. They are left alone: closing them would say goodbye on
                // connections that the parent still uses.
                for case let inherited? in state.loops { _ = Unmanaged.passRetained(inherited) }
                state.loops = State().loops
                state.forks = forks
            }
            if let owner = state.loops[role.rawValue] { return owner }
            try configuration.validate()
            let loop = try EventLoop(configuration, role, streams, portable: isPortable, ledger: ledger)
            let owner = LoopOwner(loop)
            state.loops[role.rawValue] = owner
            return owner
        }
    }
}

extension CurlTransport: CookieTransport {
    package var keepsCookies: Bool { configuration.cookies != nil }
}

extension CurlTransport: ConnectionTransport {
    /// Those of the loops that run, without those of a network that was left.
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

/// Lets a loop end when neither a transport has it nor something is just being handed to it.
final class LoopOwner: Sendable {
    let loop: EventLoop

    init(_ loop: EventLoop) {
        self.loop = loop
    }

    deinit {
        loop.post(.finish)
    }
}
