import BeagleNetDependencies
import BeagleNetHTTP
import Synchronization

/// A type-erased credential.
///
/// Generic code would cost each request more than all its other work.
final class Credential: Sendable {
    let attach: @Sendable (inout HTTPRequest) -> Void
    let isExpiring: @Sendable () -> Bool
    /// Fetches a new credential; returns `nil` if the user must sign in.
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

/// A fetch of a credential.
///
/// Its operations get no credential.
final class CredentialFetch: Sendable {
    @TaskLocal private static var current: CredentialFetch?
    /// The number of fetches in flight, which saves most requests from reading the task-local value.
    private static let count = Atomic(0)

    private let isOver = Lock(false)

    /// Whether the running code belongs to a fetch.
    ///
    /// Such code must not wait for a credential, because it would wait for its own end.
    static var isActive: Bool { running.map { !$0.isOver.withLock { $0 } } ?? false }

    /// Creates a task as part of a fetch.
    static func begin<Value>(_ fetch: CredentialFetch?, _ body: () -> Value) -> Value {
        $current.withValue(fetch, operation: body)
    }

    /// The fetch to which the running code belongs, unless all fetches are over.
    static var running: CredentialFetch? { count.load(ordering: .relaxed) == 0 ? nil : current }

    /// Performs the fetch.
    func run<Fetched: Sendable>(_ fetch: @Sendable () async -> Fetched) async -> Fetched {
        Self.count.add(1, ordering: .relaxed)
        // Tasks that were started in the meantime and outlive the fetch don't belong to it any more.
        defer {
            isOver.withLock { $0 = true }
            Self.count.subtract(1, ordering: .relaxed)
        }
        return await Self.$current.withValue(self) { await fetch() }
    }
}

extension BeagleDependencies {
    /// The number of the user whose credentials the interceptors add to requests; 0 if they add none.
    ///
    /// The number changes as soon as the credentials may be another user's.
    package var credentialOwner: Int {
        CredentialFetch.isActive ? 0 : interceptors.lazy.compactMap(\.credentialOwner).first ?? 0
    }
}
