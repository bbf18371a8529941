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

    private let core: Authentication

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
        core = Authentication(
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

    /// Forgets the credential, as after somebody has signed in or out: the next operation loads it anew, and what was sent
    /// with the old one is not sent again; nor is anything found that was stored before. Call
    /// the client's `endAll()` as well, or who watches goes on with the credentials of the next person.
    public func reset() {
        core.shared.reset()
    }

    /// A number for the present user.
    public var credentialOwner: Int? { core.shared.person }

    /// With operations to the origins that may have the credential; not with those that `load` and `renew` themselves ask,
    /// which would wait for their own end.
    public func applies(to operation: NetworkOperation) -> Bool { core.applies(to: operation) }

    /// Attaches the credential, if it is there and good.
    public func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision {
        core.begin(&operation)
    }

    /// Waits for the credential, attaches it and goes on; once more with a renewed one if it was refused.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        try await core.perform(operation, next, emit)
    }
}
