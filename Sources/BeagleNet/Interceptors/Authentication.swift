import BeagleNetHTTP

/// The part of an `AuthInterceptor` that doesn't depend on the type of its credentials.
final class Authentication: Sendable {
    let shared: SharedCredential
    private let load: @Sendable () async throws -> Credential?
    private let isRefusal: @Sendable (NetworkOperation, NetworkOperation.Outcome) -> Bool
    private let origins: Set<Origin>?
    private let fields: Set<HTTPField.Name>

    init(
        load: @escaping @Sendable () async throws -> Credential?,
        isRefusal: @escaping @Sendable (NetworkOperation, NetworkOperation.Outcome) -> Bool,
        origins: Set<Origin>?,
        fields: Set<HTTPField.Name>,
        limit: Duration
    ) {
        shared = SharedCredential(limit: limit)
        self.load = load
        self.isRefusal = isRefusal
        self.origins = origins
        self.fields = fields
    }

    func applies(to operation: NetworkOperation) -> Bool {
        !CredentialFetch.isActive && operation.isPermitted(for: origins)
    }

    /// Attaches the credential, if it is available and not about to expire.
    func begin(_ operation: inout NetworkOperation) -> Pipeline.Decision {
        guard let used = shared.present else { return .wait }
        if let credential = used.credential, credential.isExpiring() { return .wait }
        do throws(NetworkError) {
            return .proceed(try attach(used, to: &operation))
        } catch {
            return .fail(error)
        }
    }

    /// Waits for the credential, attaches it and continues.
    ///
    /// If the credential is rejected, retries once with a renewed one.
    nonisolated(nonsending) func perform(
        _ operation: NetworkOperation,
        _ next: Interceptor.Next,
        _ emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        var operation = operation
        // Before the credential is loaded, which may fail.
        _ = operation.run?.noteAttempt(of: shared.credentialOwner)
        let attempt = try attach(await current(operation), to: &operation)
        return try await next(operation, emit, observedBy: attempt)
    }

    /// - Returns: The observation that renews a rejected credential; `nil` if the app has no credential.
    private func attach(
        _ used: SharedCredential.Version,
        to operation: inout NetworkOperation
    ) throws(NetworkError) -> Attempt? {
        if used.credential != nil, operation.hasUndeclaredOrigins(origins) {
            throw .undeclaredOrigins("an AuthInterceptor has a credential")
        }
        // A subscription may start again for another user. Any other request of the previous user must not be sent for
        // this one.
        if operation.run?.noteAttempt(of: used.credentialOwner) == true, operation.kind != .subscription {
            throw .userChanged
        }
        guard used.credential != nil else { return nil }
        let attempt = Attempt(self, operation, used)
        put(used, on: &operation)
        return attempt
    }

    private func put(_ version: SharedCredential.Version, on operation: inout NetworkOperation) {
        guard let credential = version.credential else { return }
        credential.attach(&operation.transfer.head)
        operation.scope(fields)
        operation.note(credentials: fields, of: version.credentialOwner)
    }

    /// A request with a credential.
    private final class Attempt: RequestObservation {
        private let auth: Authentication
        /// The operation without the credential.
        private let operation: NetworkOperation
        private let used: SharedCredential.Version

        init(
            _ auth: Authentication,
            _ operation: NetworkOperation,
            _ used: SharedCredential.Version
        ) {
            self.auth = auth
            self.operation = operation
            self.used = used
        }

        func mustWait(after outcome: NetworkOperation.Outcome) -> Bool {
            !outcome.isPrerequisiteFailure && auth.isRefusal(operation, outcome)
                && operation.transfer.body?.isReplayable ?? true
        }

        nonisolated(nonsending) func resume(
            after outcome: NetworkOperation.Outcome,
            next: Interceptor.Next,
            emit: @escaping Interceptor.Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            guard let renewed = try await auth.renewal(of: used, operation), renewed.credential != nil else {
                return try outcome.get()
            }
            if Task.isCancelled { throw .cancelledBeforeStart }
            var again = operation
            again.beginAttempt()
            auth.put(renewed, on: &again)
            return try await next(again, emit)
        }
    }

    /// Returns the credential to use, after loading or renewing it if needed.
    nonisolated(nonsending) private func current(
        _ operation: NetworkOperation
    ) async throws(NetworkError) -> SharedCredential.Version {
        let loaded = try await NetworkError.catchingPrerequisite {
            try await shared.version(operation.clock) { [load] in try await load() }
        }
        guard let credential = loaded.credential, credential.isExpiring() else { return loaded }
        guard let renewed = try await renewal(of: loaded, operation), renewed.credential != nil else { return loaded }
        return renewed
    }

    /// Returns the replacement of a rejected credential: one that another request has renewed in the meantime, or a
    /// newly renewed one; `nil` if the present credential may belong to another user.
    nonisolated(nonsending) private func renewal(
        of used: SharedCredential.Version,
        _ operation: NetworkOperation
    ) async throws(NetworkError) -> SharedCredential.Version? {
        guard let credential = used.credential else { return used }
        return try await NetworkError.catchingPrerequisite {
            try await shared.version(after: used, operation.clock) { try await credential.renew() }
        }
    }
}

extension NetworkError {
    /// The error if an operation would be retried but its first attempt had another user's credential.
    fileprivate static var userChanged: NetworkError {
        var error = NetworkError(
            .cancelled,
            during: .queue,
            "the request was not retried because another user may have signed in since it was sent",
            advice: "send a new request for the current user"
        )
        error.isPrerequisiteFailure = true
        return error
    }
}

extension Result<NetworkOperation.Result, NetworkError> {
    /// Whether the operation failed before it was sent, for example because a token couldn't be fetched. The server
    /// then didn't reject the credential.
    fileprivate var isPrerequisiteFailure: Bool {
        if case .failure(let error) = self { return error.isPrerequisiteFailure }
        return false
    }
}
