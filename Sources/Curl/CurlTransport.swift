public import BeagleNetHTTP

/// Performs HTTP transfers with libcurl, on one event-loop thread of its own.
///
/// Connections are pooled per transport and used by all its transfers; HTTP/2 ones by many at once. The thread starts
/// with the first transfer. Releasing the transport lets transfers in flight come to their end, `shutDown()` ends
/// them at once; either way each completion is called once. After a `fork` the child gets connections of its own.
public final class CurlTransport: HTTPTransport {
    private struct State {
        var loop: EventLoop?
        /// `ForkCount.now` when the loop began.
        var forks = 0
    }

    private let state = Lock(State())
    private let configuration: CurlConfiguration
    private let isPortable: Bool
    private let ledger = Ledger.current

    /// A transport with its own connections.
    public convenience init(_ configuration: CurlConfiguration = CurlConfiguration()) {
        self.init(configuration, isPortable: false)
    }

    /// - Parameter isPortable: whether it waits with `curl_multi_poll`, as it does where there is no epoll.
    package init(_ configuration: CurlConfiguration = CurlConfiguration(), isPortable: Bool) {
        self.configuration = configuration
        self.isPortable = isPortable
    }

    deinit {
        send(.finish)
    }

    /// Ends all transfers in flight with `NetworkError.Kind.shutdown` and closes the connections. A transfer that
    /// is begun later starts anew.
    public func shutDown() {
        let loop = state.withLock { state in
            defer { state.loop = nil }
            return state.loop
        }
        loop?.post(.shutDown)
    }

    /// Starts a transfer; see `HTTPTransport`. `completion` must not block: the loop's thread calls it.
    @discardableResult
    public func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken {
        do throws(NetworkError) {
            let loop = try runningLoop()
            let transfer = Transfer(request, on: loop)
            transfer.start(.callback(completion))
            return transfer
        } catch {
            Task { completion(.failure(error)) }
            return EndedToken()
        }
    }

    /// Performs a transfer; cancelling the task cancels it.
    public func perform(_ request: TransferRequest) async throws(NetworkError) -> TransferResponse {
        let transfer = Transfer(request, on: try runningLoop())
        await withTaskCancellationHandler {
            await withUnsafeContinuation { transfer.start(.continuation($0)) }
        } onCancel: {
            transfer.cancel()
        }
        return try transfer.takeOutcome().get()
    }

    private func runningLoop() throws(NetworkError) -> EventLoop {
        try state.withLock { state throws(NetworkError) in
            let forks = ForkCount.now
            if let loop = state.loop, state.forks == forks { return loop }
            // The parent's loop has no thread here. It is left alone: closing it would say goodbye on connections
            // that the parent still uses.
            if let inherited = state.loop { _ = Unmanaged.passRetained(inherited) }
            try configuration.validate()
            let loop = try EventLoop(configuration, portable: isPortable, ledger: ledger)
            state = State(loop: loop, forks: forks)
            return loop
        }
    }

    private func send(_ command: EventLoop.Command) {
        state.withLock { $0.loop }?.post(command)
    }
}

/// The token of a transfer that never began.
private struct EndedToken: RequestToken {
    func cancel() {}
}
