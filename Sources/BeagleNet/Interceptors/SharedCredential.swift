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

    private typealias Fetch = Promise<Result<Version, NetworkError>>

    private struct State: Sendable {
        /// `nil` before the first fetch, after it failed, and after a renewal returned no credential.
        var version: Version?
        var lastNumber = 0
        /// The number of the user; a new one each time that the next credential may be another user's.
        var credentialOwner = CredentialOwnerID.next()
        /// The result of the fetch in flight.
        var fetch: Fetch?
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
            state.fetch = nil
            state.credentialOwner = CredentialOwnerID.next()
        }
    }

    /// The number of the user to whom the credential belongs.
    ///
    /// Renewing keeps it, because the user is the same; a loaded credential may be another user's.
    var credentialOwner: Int { state.withLock { $0.credentialOwner } }

    /// The present version; `nil` before the first fetch and during a fetch.
    var present: Version? { state.withLock { $0.fetch == nil ? $0.version : nil } }

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
            let (there, fetch, isRenewing): (Version?, Fetch?, Bool) = state.withLock { state in
                if let fetch = state.fetch { return (nil, fetch, state.isRenewing) }
                if let version = state.version { return (version, nil, false) }
                return (nil, begin(&state, clock, isRenewal: false, load), false)
            }
            if let there { return there }
            guard let outcome = await fetch?.valueUnlessCancelled() else { throw .cancelledBeforeStart }
            let version = try outcome.get()
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
        let (there, fetch): (Version?, Fetch?) = state.withLock { state in
            if state.credentialOwner != used.credentialOwner { return (nil, nil) }
            if let fetch = state.fetch { return (nil, fetch) }
            if let version = state.version, version.number != used.number { return (version, nil) }
            return (nil, begin(&state, clock, isRenewal: true, renew))
        }
        guard let fetch else { return there }
        guard let outcome = await fetch.valueUnlessCancelled() else { throw .cancelledBeforeStart }
        return try outcome.get()
    }

    /// Fetches in a separate task, so that the operation that started the fetch may leave without affecting the others.
    private func begin(
        _ state: inout State,
        _ clock: any Clock<Duration>,
        isRenewal: Bool,
        _ credential: @escaping @Sendable () async throws -> Credential?
    ) -> Fetch {
        state.lastNumber += 1
        let (number, credentialOwner) = (state.lastNumber, state.credentialOwner)
        let fetch = Fetch()
        Task { [limit] in
            let outcome = await Self.fetched(limit, clock, credential).map { credential in
                Version(credential: credential, credentialOwner: credentialOwner, number: number)
            }
            self.storeResult(outcome, number, credentialOwner, isRenewal)
            fetch.complete(outcome)
        }
        state.fetch = fetch
        state.isRenewing = isRenewal
        return fetch
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
            state.fetch = nil
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
        let answer = Promise<Result<Credential?, NetworkError>>()
        let work = Task {
            let fetched = await CredentialFetch().run {
                await Result<Credential?, NetworkError>.catching { () throws(NetworkError) in
                    try await NetworkError.catching { try await fetch() }
                }
            }
            answer.complete(fetched)
        }
        let alarm = Task {
            // Throws only if the credential arrived first.
            do { try await clock.sleep(for: limit) } catch { return }
            answer.complete(.failure(.credentialTimeout(limit)))
        }
        defer {
            work.cancel()
            alarm.cancel()
        }
        return await answer.value
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
