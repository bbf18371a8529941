import BeagleNetHTTP

/// A credential that operations share.
///
/// It is fetched once, and operations that need it in the meantime wait for the same fetch.
final class SharedCredential: Sendable {
    /// A version of the credential.
    struct Version: Sendable {
        let credential: Credential?
        /// The number of the user to whom it belongs.
        let credentialOwner: Int
        /// The number of the version; a later version has a greater one.
        fileprivate let number: Int
    }

    private typealias FetchTask = Task<Result<Version, NetworkError>, Never>

    private struct State: Sendable {
        /// `nil` before the first fetch, after it failed, and after a renewal returned no credential.
        var version: Version?
        var lastNumber = 0
        /// The number of the user; a new one each time that the next credential may be another user's.
        var credentialOwner = CredentialOwnerID.next()
        var fetchTask: FetchTask?
        /// Whether the fetch in flight replaces an existing credential.
        var isRenewing = false
    }

    private let state = Lock(State())
    private let limit: Duration

    /// - Parameter limit: The maximum time for fetching.
    init(limit: Duration) {
        self.limit = limit
    }

    /// Discards the credential, and also the result of a fetch in flight.
    func reset() {
        state.withLock { state in
            state.version = nil
            state.fetchTask = nil
            state.credentialOwner = CredentialOwnerID.next()
        }
    }

    /// The number of the user to whom the credential belongs.
    ///
    /// Renewing keeps it, because the user is the same; a loaded credential may be another user's.
    var credentialOwner: Int { state.withLock { $0.credentialOwner } }

    /// The present version; `nil` before the first fetch and during a fetch.
    var present: Version? { state.withLock { $0.fetchTask == nil ? $0.version : nil } }

    /// Returns the present version, or else the one that `load` fetches for all waiting operations.
    ///
    /// Also loads after a renewal that returned no credential.
    ///
    /// - Parameter clock: The clock that measures `limit`.
    /// - Throws: The error of the fetch, for all waiting operations; `.cancelled` for a cancelled one.
    nonisolated(nonsending) func version(
        _ clock: any Clock<Duration>,
        _ load: @escaping @Sendable () async throws -> Credential?
    ) async throws(NetworkError) -> Version {
        while true {
            let (there, fetchTask, isRenewing): (Version?, FetchTask?, Bool) = state.withLock { state in
                if let fetchTask = state.fetchTask { return (nil, fetchTask, state.isRenewing) }
                if let version = state.version { return (version, nil, false) }
                return (nil, begin(&state, clock, isRenewal: false, load), false)
            }
            if let there { return there }
            guard let fetchTask else { throw .cancelledBeforeStart }
            let version = try await fetchTask.valueUnlessCancelled().get()
            if version.credential != nil || !isRenewing { return version }
        }
    }

    /// Returns the version after a rejected one: a newer version if there is one, or else the one that `renew` fetches
    /// for all waiting operations.
    ///
    /// - Returns: `nil` if the present credential may be another user's, because the credential was discarded or its
    ///   renewal failed.
    nonisolated(nonsending) func version(
        after used: Version,
        _ clock: any Clock<Duration>,
        _ renew: @escaping @Sendable () async throws -> Credential?
    ) async throws(NetworkError) -> Version? {
        let (there, fetchTask): (Version?, FetchTask?) = state.withLock { state in
            if state.credentialOwner != used.credentialOwner { return (nil, nil) }
            if let fetchTask = state.fetchTask { return (nil, fetchTask) }
            if let version = state.version, version.number != used.number { return (version, nil) }
            return (nil, begin(&state, clock, isRenewal: true, renew))
        }
        guard let fetchTask else { return there }
        return try await fetchTask.valueUnlessCancelled().get()
    }

    /// Fetches in a separate task, so that the operation that started the fetch may leave without affecting the others.
    private func begin(
        _ state: inout State,
        _ clock: any Clock<Duration>,
        isRenewal: Bool,
        _ fetch: @escaping @Sendable () async throws -> Credential?
    ) -> FetchTask {
        state.lastNumber += 1
        let (number, credentialOwner) = (state.lastNumber, state.credentialOwner)
        let fetchTask = FetchTask { [limit] in
            let outcome = await Self.fetched(limit, clock, fetch).map { credential in
                Version(credential: credential, credentialOwner: credentialOwner, number: number)
            }
            self.storeResult(outcome, number, credentialOwner, isRenewal)
            return outcome
        }
        state.fetchTask = fetchTask
        state.isRenewing = isRenewal
        return fetchTask
    }

    /// Stores the result of a fetch. If a renewal returned no credential, the user must sign in, and the next operation
    /// loads the credential again.
    private func storeResult(
        _ outcome: Result<Version, NetworkError>,
        _ number: Int,
        _ credentialOwner: Int,
        _ isRenewal: Bool
    ) {
        state.withLock { state in
            guard state.credentialOwner == credentialOwner, state.lastNumber == number else { return }
            state.fetchTask = nil
            guard case .success(let version) = outcome else { return }
            let isInVain = isRenewal && version.credential == nil
            state.version = isInVain ? nil : version
            if isInVain { state.credentialOwner = CredentialOwnerID.next() }
        }
    }

    private static func fetched(
        _ limit: Duration,
        _ clock: any Clock<Duration>,
        _ fetch: @escaping @Sendable () async throws -> Credential?
    ) async -> Result<Credential?, NetworkError> {
        let answers = AsyncStream.makeStream(of: Result<Credential?, NetworkError>.self)
        let work = Task {
            let answer = await CredentialFetch().run {
                await Result<Credential?, NetworkError>.catching { () throws(NetworkError) in
                    try await NetworkError.catching { try await fetch() }
                }
            }
            answers.continuation.yield(answer)
        }
        let alarm = Task {
            // Throws only if the credential arrived first.
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
    /// Returns the task's value, unless the waiting task is cancelled first.
    nonisolated(nonsending) fileprivate func valueUnlessCancelled() async throws(NetworkError) -> Success {
        try await withCancellableToken { completion in
            Task<Void, Never> { completion(.success(await value)) }
            return AnyRequestToken { completion(.failure(.cancelledBeforeStart)) }
        }.get()
    }
}

extension NetworkError {
    fileprivate static func credentialTimeout(_ limit: Duration) -> NetworkError {
        NetworkError(
            .timeout,
            during: .queue,
            "no credential was available within \(limit)",
            advice: "check what `load` and `renew` of the AuthInterceptor wait for"
        )
    }
}

/// Numbers of users, unique within the process.
private enum CredentialOwnerID {
    private static let last = Lock(0)

    static func next() -> Int {
        last.withLock { last in
            last += 1
            return last
        }
    }
}
