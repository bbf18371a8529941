import BeagleNetHTTP

/// A credential of whatever type: generic code would cost each request more than all else that is done with it.
final class Credential: Sendable {
    let attach: @Sendable (inout HTTPRequest) -> Void
    let isExpiring: @Sendable () -> Bool
    /// Fetches a new credential; nil if the user has to sign in.
    let renew: @Sendable () async throws -> Credential?

    init(
        attach: @escaping @Sendable (inout HTTPRequest) -> Void,
        isExpiring: @escaping @Sendable () -> Bool,
        renew: @escaping @Sendable () async throws -> Credential?
    ) {
        self.attach = attach
        self.isExpiring = isExpiring
        self.renew = renew
    }
}

/// A credential that many use and one fetches: whoever needs it while it is on its way waits for the same.
final class SharedCredential: Sendable {
    /// The credential at some time.
    struct Version: Sendable {
        let credential: Credential?
        /// Whose it is.
        let person: Int
        /// Of two versions the later has the greater number.
        fileprivate let number: Int
    }

    private typealias Flight = Task<Result<Version, NetworkError>, Never>

    private struct State: Sendable {
        /// nil before it was fetched first, after a failure of that, and where it was to be renewed in vain.
        var version: Version?
        var lastNumber = 0
        /// Another one each time that the next credential may be another person's.
        var person = PersonNumber.next()
        var flight: Flight?
        /// Whether what is on its way takes the place of another.
        var isRenewing = false
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
            state.person = PersonNumber.next()
        }
    }

    /// Whose the credential is: renewed ones are the same person's, what is loaded anew may be another's.
    var person: Int { state.withLock { $0.person } }

    /// The version that is there; nil while it is fetched, and before.
    var present: Version? { state.withLock { $0.flight == nil ? $0.version : nil } }

    /// The version that is there, else the one that `load` brings for all who ask; that, too, where one is renewed in vain.
    ///
    /// - Parameter clock: what `limit` is measured by.
    /// - Throws: why it could not be fetched, to all who wait for it; `.cancelled` to who is cancelled meanwhile.
    nonisolated(nonsending) func version(
        _ clock: any Clock<Duration>,
        _ load: @escaping @Sendable () async throws -> Credential?
    ) async throws(NetworkError) -> Version {
        while true {
            let (there, flight, isRenewing): (Version?, Flight?, Bool) = state.withLock { state in
                if let flight = state.flight { return (nil, flight, state.isRenewing) }
                if let version = state.version { return (version, nil, false) }
                return (nil, begin(&state, clock, isRenewal: false, load), false)
            }
            if let there { return there }
            guard let flight else { throw .cancelledBeforeStart }
            let version = try await flight.valueUnlessCancelled().get()
            if version.credential != nil || !isRenewing { return version }
        }
    }

    /// The version after one that will not do: what is there by now, else the one that `renew` brings for all who ask.
    ///
    /// - Returns: nil where what there is now may be another person's: everything was forgotten since, or the credential was
    ///   renewed in vain.
    nonisolated(nonsending) func version(
        after used: Version,
        _ clock: any Clock<Duration>,
        _ renew: @escaping @Sendable () async throws -> Credential?
    ) async throws(NetworkError) -> Version? {
        let (there, flight): (Version?, Flight?) = state.withLock { state in
            if state.person != used.person { return (nil, nil) }
            if let flight = state.flight { return (nil, flight) }
            if let version = state.version, version.number != used.number { return (version, nil) }
            return (nil, begin(&state, clock, isRenewal: true, renew))
        }
        guard let flight else { return there }
        return try await flight.valueUnlessCancelled().get()
    }

    /// Fetches in a task of its own: whoever asked first may leave without harm to the others.
    private func begin(
        _ state: inout State,
        _ clock: any Clock<Duration>,
        isRenewal: Bool,
        _ fetch: @escaping @Sendable () async throws -> Credential?
    ) -> Flight {
        state.lastNumber += 1
        let (number, person) = (state.lastNumber, state.person)
        let flight = Flight { [limit] in
            let outcome = await Self.fetched(limit, clock, fetch).map { credential in
                Version(credential: credential, person: person, number: number)
            }
            self.land(outcome, number, person, isRenewal)
            return outcome
        }
        state.flight = flight
        state.isRenewing = isRenewal
        return flight
    }

    /// Keeps what came. Where nothing came in the place of an old one, the person is to sign in, and the next operation
    /// loads what there is then.
    private func land(
        _ outcome: Result<Version, NetworkError>,
        _ number: Int,
        _ person: Int,
        _ isRenewal: Bool
    ) {
        state.withLock { state in
            guard state.person == person, state.lastNumber == number else { return }
            state.flight = nil
            guard case .success(let version) = outcome else { return }
            let isInVain = isRenewal && version.credential == nil
            state.version = isInVain ? nil : version
            if isInVain { state.person = PersonNumber.next() }
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

/// Numbers of people, none of which comes twice in a process.
private enum PersonNumber {
    private static let last = Lock(0)

    static func next() -> Int {
        last.withLock { last in
            last += 1
            return last
        }
    }
}

/// The fetching of a credential: its operations have none.
final class CredentialFetch: Sendable {
    @TaskLocal private static var current: CredentialFetch?

    private let isOver = Lock(false)

    /// Whether the code that runs belongs to one, which would wait for its own end.
    static var isOne: Bool { current.map { !$0.isOver.withLock { $0 } } ?? false }

    /// Creates a task as a part of a fetch.
    static func begin<Value>(_ fetch: CredentialFetch?, _ body: () -> Value) -> Value {
        $current.withValue(fetch, operation: body)
    }

    /// The fetch that the running code belongs to.
    static var present: CredentialFetch? { current }

    /// Fetches.
    func run<Fetched: Sendable>(_ fetch: @Sendable () async -> Fetched) async -> Fetched {
        // A task that was begun meanwhile and lasts is a part of it no more.
        defer { isOver.withLock { $0 = true } }
        return await Self.$current.withValue(self) { await fetch() }
    }
}
