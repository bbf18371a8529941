public import BeagleNetHTTP
import BeagleNetRequestBuilder

/// An interceptor that adds credentials to requests to the app's own origins, and renews them once for all waiting
/// operations.
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
/// Operations wait while credentials are loaded or renewed. An operation that the server rejects is retried once with
/// renewed credentials, but never twice, and not after it was cancelled.
///
/// If renewing fails, all waiting operations fail with that error, which says that the server hasn't acted on them. The
/// next operation tries again. Operations to other origins get no credentials, and their responses don't cause a
/// renewal. If the app declares no origins, an operation fails with an error that says how to declare them.
public final class AuthInterceptor<Credential: Sendable>: Interceptor {
    /// The interceptor's place: `.auth`.
    public var place: Pipeline.Place? { .auth }
    /// `true`: credentials are loaded and renewed in separate tasks.
    public var neverBlocks: Bool { true }

    /// The app's rules for its credentials.
    public struct Rules: Sendable {
        /// Returns the app's credential, or `nil` if it has none, and then operations are sent without one.
        ///
        /// Called once, for the first operation, and again after a failure or a `reset()`.
        public var load: @Sendable () async throws -> Credential?
        /// Returns a new credential in place of one that was rejected or is about to expire.
        ///
        /// Returns `nil` if the user must sign in again: the rejection is then the operation's outcome, and an expiring
        /// credential is used as it is.
        public var renew: @Sendable (Credential) async throws -> Credential?
        /// Adds the credential to a message.
        public var attach: @Sendable (Credential, inout HTTPRequest) -> Void
        /// Returns whether a credential is about to expire, so that it is renewed before use.
        ///
        /// Returns `false` by default.
        public var isExpiring: @Sendable (Credential) -> Bool
        /// Returns whether an outcome means that the server rejected the credential.
        ///
        /// By default, a status of 401 does.
        public var isRefusal: @Sendable (NetworkOperation, Result<NetworkOperation.Result, NetworkError>) -> Bool

        /// Creates rules.
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

    private let authentication: Authentication

    /// Creates an interceptor with these rules.
    ///
    /// - Parameters:
    ///   - rules: The source of credentials and their use.
    ///   - origins: The origins that receive credentials; `nil`, the default, for those that the client's builder
    ///     declares. If it declares none, an operation fails as soon as there is a credential.
    ///   - fields: The header fields that `attach` sets. They are sent to no other origin, and are removed on a
    ///     redirect to one; `Authorization` by default.
    ///   - limit: The maximum time for loading or renewing, 30 s by default. Without it, a hanging load would block all
    ///     operations.
    public init(
        _ rules: Rules,
        origins: Set<Origin>? = nil,
        fields: Set<HTTPField.Name> = [.authorization],
        limit: Duration = .seconds(30)
    ) {
        authentication = Authentication(
            load: { Self.erased(try await rules.load(), rules) },
            isRefusal: rules.isRefusal,
            origins: origins,
            fields: fields,
            limit: limit
        )
    }

    private static func erased(_ credential: Credential?, _ rules: Rules) -> BeagleNet.Credential? {
        credential.map { credential in
            BeagleNet.Credential(
                attach: { rules.attach(credential, &$0) },
                isExpiring: { rules.isExpiring(credential) },
                renew: { erased(try await rules.renew(credential), rules) }
            )
        }
    }

    /// Discards the credential, for example after a user has signed in or out.
    ///
    /// The next operation loads it again.
    ///
    /// Operations that were sent with the old credential aren't retried, and responses that were stored before aren't
    /// found any more. Also call the client's `endAll()`; otherwise, watched operations continue with the credentials
    /// of the next user.
    public func reset() {
        authentication.shared.reset()
    }

    /// A number for the present user.
    public var credentialOwner: Int? { authentication.shared.credentialOwner }

    /// Returns `true` for operations to the origins that receive the credential.
    ///
    /// Returns `false` for requests of `load` and `renew` themselves, which would wait for their own end.
    public func applies(to operation: NetworkOperation) -> Bool { authentication.applies(to: operation) }

    /// Attaches the credential, if it is available and not about to expire.
    public func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision {
        authentication.begin(&operation)
    }

    /// Waits for the credential, attaches it and continues.
    ///
    /// If the credential is rejected, retries once with a renewed one.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        try await authentication.perform(operation, next, emit)
    }
}
