public import BeagleNetHTTP
import BeagleNetRequestBuilder

/// Brings credentials to the app's own origins, and renews them once for all who need them.
///
/// ```swift
/// let rules = AuthInterceptor<String>.Rules(
///     load: { try await keychain.token() },
///     renew: { _ in try await session.refresh() },
///     attach: { token, head in head.headerFields[.authorization] = "Bearer \(token)" }
/// )
/// dependencies.interceptors.add(AuthInterceptor(rules))
/// ```
///
/// Operations wait while credentials are loaded or renewed. One that the server refuses is asked once more with renewed
/// credentials, never twice, and not after it was cancelled. Where renewing fails, all who waited for it fail with the
/// error, which says that no server has acted on them; the next operation tries anew. Operations to other origins pass
/// untouched, and what they answer renews nothing. Where the app declares no origins, an operation fails with an error
/// that says what to declare.
public final class AuthInterceptor<Credential: Sendable>: Interceptor {
    /// `.auth`.
    public var place: Pipeline.Place? { .auth }
    /// Credentials are loaded and renewed elsewhere.
    public var neverBlocks: Bool { true }

    /// What the interceptor asks of an app.
    public struct Rules: Sendable {
        /// The credential that the app has, or nil where it has none, and then operations go without. Called once, with
        /// the first operation, and once more after a failure or a `reset()`.
        public var load: @Sendable () async throws -> Credential?
        /// A new credential in the place of one that was refused or is about to expire; nil where the person is to sign
        /// in again: then the refusal is the answer, and what is about to expire is used as it is.
        public var renew: @Sendable (Credential) async throws -> Credential?
        /// Puts the credential on a message.
        public var attach: @Sendable (Credential, inout HTTPRequest) -> Void
        /// Whether a credential is so near its end that it is renewed before it is used; never by default.
        public var isExpiring: @Sendable (Credential) -> Bool
        /// Whether an answer refuses the credential; a status of 401 does by default.
        public var isRefusal: @Sendable (NetworkOperation, Result<NetworkOperation.Result, NetworkError>) -> Bool

        /// Rules.
        public init(
            load: @escaping @Sendable () async throws -> Credential?,
            renew: @escaping @Sendable (Credential) async throws -> Credential? = { _ in nil },
            attach: @escaping @Sendable (Credential, inout HTTPRequest) -> Void,
            isExpiring: @escaping @Sendable (Credential) -> Bool = { _ in false },
            isRefusal: (@Sendable (NetworkOperation, Result<NetworkOperation.Result, NetworkError>) -> Bool)? = nil
        ) {
            self.load = load
            self.renew = renew
            self.attach = attach
            self.isExpiring = isExpiring
            self.isRefusal = isRefusal ?? { _, outcome in outcome.status == .unauthorized }
        }
    }

    private let rules: Rules
    private let origins: Set<Origin>?
    private let fields: Set<HTTPField.Name>
    private let shared: SharedCredential<Credential>

    /// Brings credentials by these rules.
    ///
    /// - Parameters:
    ///   - rules: where credentials come from and how they are used.
    ///   - origins: who may have them; nil, the default, for the origins that the client's builder declares. Where it
    ///     declares none, an operation fails once there is a credential.
    ///   - fields: the header fields that `attach` sets, which go to no other origin, not with a redirect either;
    ///     `Authorization` by default.
    ///   - limit: the longest that loading or renewing may take, 30 s by default: what hangs would hang all.
    public init(
        _ rules: Rules,
        origins: Set<Origin>? = nil,
        fields: Set<HTTPField.Name> = [.authorization],
        limit: Duration = .seconds(30)
    ) {
        self.rules = rules
        self.origins = origins
        self.fields = fields
        shared = SharedCredential(limit: limit)
    }

    /// Forgets the credential, as after somebody has signed in or out: the next operation loads it anew, and what was sent
    /// with the old one is not sent again; nor is anything found that was stored before. Call
    /// the client's `endAll()` as well, or who watches goes on with the credentials of the next person.
    public func reset() {
        shared.reset()
    }

    /// A number for the present user.
    public var credentialOwner: Int? { shared.person }

    /// With operations to the origins that may have the credential; not with those that `load` and `renew` themselves ask,
    /// which would wait for their own end.
    public func applies(to operation: NetworkOperation) -> Bool {
        !CredentialFetch.isOne && operation.isMeant(for: origins)
    }

    /// Attaches the credential, if it is there and good.
    public func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision {
        guard let used = shared.present else { return .wait }
        if let credential = used.credential, rules.isExpiring(credential) { return .wait }
        do throws(NetworkError) {
            return .proceed(try attach(used, to: &operation))
        } catch {
            return .fail(error)
        }
    }

    /// Waits for the credential, attaches it and goes on; once more with a renewed one if it was refused.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        var operation = operation
        let attempt = try attach(await current(operation), to: &operation)
        return try await next(operation, emit, observedBy: attempt)
    }

    /// - Returns: What renews the credential if it is refused; nil if there is none.
    private func attach(
        _ used: SharedCredential<Credential>.Version,
        to operation: inout NetworkOperation
    ) throws(NetworkError) -> Attempt? {
        if used.credential != nil, operation.hasUndeclaredOrigins(origins) {
            throw .undeclaredOrigins("an AuthInterceptor has a credential")
        }
        // A subscription begins anew each time; what else the person before wanted is not for this one to ask.
        if let first = operation.run?.firstOwner, first != used.person, operation.kind != .subscription {
            throw .ofAnotherPerson
        }
        guard used.credential != nil else { return nil }
        let attempt = Attempt(self, operation, used)
        put(used, on: &operation)
        return attempt
    }

    private func put(_ version: SharedCredential<Credential>.Version, on operation: inout NetworkOperation) {
        guard let credential = version.credential else { return }
        rules.attach(credential, &operation.transfer.head)
        operation.scope(fields)
        operation.note(credentials: fields, of: version.person)
    }

    /// One request with a credential.
    private final class Attempt: RequestObservation {
        private let auth: AuthInterceptor
        /// As it was without the credential.
        private let operation: NetworkOperation
        private let used: SharedCredential<Credential>.Version

        init(
            _ auth: AuthInterceptor,
            _ operation: NetworkOperation,
            _ used: SharedCredential<Credential>.Version
        ) {
            self.auth = auth
            self.operation = operation
            self.used = used
        }

        func mustWait(after outcome: NetworkOperation.Outcome) -> Bool {
            !outcome.isAside && auth.rules.isRefusal(operation, outcome)
                && operation.transfer.body?.isReplayable ?? true
        }

        nonisolated(nonsending) func resume(
            after outcome: NetworkOperation.Outcome,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            guard let renewed = try await auth.renewal(of: used, operation), renewed.credential != nil else {
                return try outcome.get()
            }
            if Task.isCancelled { throw .cancelledBeforeStart }
            var again = operation
            again.tryAgain()
            auth.put(renewed, on: &again)
            return try await next(again, emit)
        }
    }

    /// The credential to use, loaded or renewed first where that is due.
    nonisolated(nonsending) private func current(
        _ operation: NetworkOperation
    ) async throws(NetworkError) -> SharedCredential<Credential>.Version {
        let loaded = try await NetworkError.asideCatching {
            try await shared.version(operation.clock) { [rules] in try await rules.load() }
        }
        guard let credential = loaded.credential, rules.isExpiring(credential) else { return loaded }
        guard let renewed = try await renewal(of: loaded, operation), renewed.credential != nil else { return loaded }
        return renewed
    }

    /// What takes the place of a credential that will not do: what somebody else was given meanwhile, else a renewed one;
    /// nil where what there is now may be another person's.
    nonisolated(nonsending) private func renewal(
        of used: SharedCredential<Credential>.Version,
        _ operation: NetworkOperation
    ) async throws(NetworkError) -> SharedCredential<Credential>.Version? {
        guard let credential = used.credential else { return used }
        return try await NetworkError.asideCatching {
            try await shared.version(after: used, operation.clock) { [rules] in try await rules.renew(credential) }
        }
    }
}

extension NetworkError {
    /// The operation was to be sent again, and the credential is not that of the first time any more.
    fileprivate static var ofAnotherPerson: NetworkError {
        var error = NetworkError(
            .cancelled,
            during: .queue,
            "the request was not retried because another user may have signed in since it was sent",
            advice: "send a new request for the current user"
        )
        error.isAside = true
        return error
    }
}

extension Result<NetworkOperation.Result, NetworkError> {
    /// Whether the operation was not sent, for what failed before: it is another server's if any that refused.
    fileprivate var isAside: Bool {
        if case .failure(let error) = self { return error.isAside }
        return false
    }
}
