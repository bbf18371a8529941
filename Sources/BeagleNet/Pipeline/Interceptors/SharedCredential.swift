import BeagleNetHTTP

/// A credential that many use and one fetches: whoever needs it while it is on its way waits for the same.
final class SharedCredential<Credential: Sendable>: Sendable {
    /// The credential at some time; of two versions the later has the greater number.
    struct Version: Sendable {
        let credential: Credential?
        let number: Int
    }

    private typealias Flight = Task<Result<Version, NetworkError>, Never>

    private struct State: Sendable {
        /// nil before it was fetched first, and after a failure of that.
        var version: Version?
        var lastNumber = 0
        var flight: Flight?
    }

    private let state = Lock(State())
    private let limit: Duration

    /// - Parameter limit: the longest that fetching may take.
    init(limit: Duration) {
        self.limit = limit
    }

    /// Forgets the credential; one that is on its way is not kept either.
    func reset() {
        state.withLock { state in
            state.version = nil
            state.flight = nil
            state.lastNumber += 1
        }
    }

    /// The version that is there; where that is none, or number `used`, the one that comes next.
    ///
    /// - Parameters:
    ///   - used: the version that will not do; nil where any will.
    ///   - clock: what `limit` is measured by.
    ///   - fetch: brings the next one, in the place of the one that is there. Called by one of all who ask.
    /// - Throws: why it could not be fetched, to all who wait for it; `.cancelled` to who is cancelled meanwhile.
    nonisolated(nonsending) func version(
        after used: Int?,
        _ clock: any Clock<Duration>,
        _ fetch: @escaping @Sendable (Credential?) async throws -> Credential?
    ) async throws(NetworkError) -> Version {
        let (there, flight): (Version?, Flight?) = state.withLock { state in
            if let flight = state.flight { return (nil, flight) }
            if let version = state.version, version.number != used { return (version, nil) }
            let flight = begin(state.version?.credential, state.lastNumber + 1, clock, fetch)
            state.flight = flight
            return (nil, flight)
        }
        if let there { return there }
        guard let flight else { throw .cancelledBeforeStart }
        return try await flight.valueUnlessCancelled().get()
    }

    /// Fetches in a task of its own: whoever asked first may leave without harm to the others.
    private func begin(
        _ old: Credential?,
        _ number: Int,
        _ clock: any Clock<Duration>,
        _ fetch: @escaping @Sendable (Credential?) async throws -> Credential?
    ) -> Flight {
        Task { [limit] in
            let outcome = await Self.fetched(old, limit, clock, fetch).map { Version(credential: $0, number: number) }
            return self.land(outcome, number)
        }
    }

    /// Keeps what came. A person who is to sign in again has none: it is asked for once more with the next operation.
    private func land(_ outcome: Result<Version, NetworkError>, _ number: Int) -> Result<Version, NetworkError> {
        state.withLock { state in
            guard state.lastNumber == number - 1 else { return }
            state.flight = nil
            guard case .success(let version) = outcome else { return }
            state.lastNumber = number
            state.version = version
        }
        return outcome
    }

    private static func fetched(
        _ old: Credential?,
        _ limit: Duration,
        _ clock: any Clock<Duration>,
        _ fetch: @escaping @Sendable (Credential?) async throws -> Credential?
    ) async -> Result<Credential?, NetworkError> {
        let answers = AsyncStream.makeStream(of: Result<Credential?, NetworkError>.self)
        let work = Task {
            answers.continuation.yield(
                await .catching { () throws(NetworkError) in try await NetworkError.catching { try await fetch(old) } }
            )
        }
        let alarm = Task {
            // Thrown only where the credential came first.
            do { try await clock.sleep(for: limit) } catch { return }
            answers.continuation.yield(.failure(.credentialTimeout(limit)))
        }
        defer {
            work.cancel()
            alarm.cancel()
        }
        for await answer in answers.stream { return answer }
        return .failure(.credentialTimeout(limit))
    }
}

extension Task where Failure == Never {
    /// The task's value, unless the one who waits for it is cancelled before.
    nonisolated(nonsending) fileprivate func valueUnlessCancelled() async throws(NetworkError) -> Success {
        try await withCancellableToken { completion in
            Task<Void, Never> { completion(.success(await value)) }
            return Leaving { completion(.failure(.cancelledBeforeStart)) }
        }.get()
    }
}

private struct Leaving: RequestToken {
    let leave: @Sendable () -> Void

    func cancel() {
        leave()
    }
}

extension NetworkError {
    fileprivate static func credentialTimeout(_ limit: Duration) -> NetworkError {
        NetworkError(
            .timeout,
            during: .queue,
            "no credential came within \(limit)",
            advice: "look at what `load` and `renew` of the AuthInterceptor wait for"
        )
    }
}
