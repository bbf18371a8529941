import BeagleNetHTTP

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// An operation that passes through an exchange chain: a query, mutation or subscription, or a teardown, which ends
/// one.
///
/// If Foundation's class of the same name is also visible, write `import struct BeagleNetExchanges.Operation`.
public struct Operation: Sendable, Identifiable {
    /// The kind of an operation.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Reads data.
        case query
        /// Changes data, and then reads.
        case mutation
        /// Reads data each time an event happens.
        case subscription
        /// Ends the operation with the same `id`, for example because it has no subscribers left.
        case teardown
    }

    /// A policy that says whether a stored result may be used.
    public enum Policy: String, Sendable, Hashable, CaseIterable {
        /// Uses the stored result if there is one, and the network otherwise.
        case cacheFirst = "cache-first"
        /// Uses the stored result, or returns a result without data if nothing is stored.
        case cacheOnly = "cache-only"
        /// Always uses the network.
        case networkOnly = "network-only"
        /// Returns the stored result immediately, marked stale, and then the network's.
        case cacheAndNetwork = "cache-and-network"

        /// Whether a request is always sent to the network.
        public var isNetwork: Bool { self == .networkOnly || self == .cacheAndNetwork }
    }

    private struct Content: Sendable {
        /// `nil` if the request is derived from the run when it is read.
        var request: URLRequest?
        var args: ExecutionArgs?
        var types: [String]
        var run: HostedRun?
        var requester: Int?
        var scope: FieldScope?
    }

    /// The identifier of the operation.
    ///
    /// Identical operations have the same identifier.
    public var id: String
    /// The operation's kind.
    public var kind: Kind
    /// The policy that says whether a stored result may be used.
    public var policy: Policy
    private var content: CopyOnWrite<Content>

    /// Creates an operation.
    ///
    /// - Parameters:
    ///   - id: The identifier of the operation.
    ///   - kind: The operation's kind.
    ///   - request: The URL and header fields.
    ///   - policy: Whether a stored result may be used.
    ///   - types: The names of the types in the operation's result, as far as they are known. A mutation makes stored
    ///     results stale if they share a type with it. Types that results name in `__typename` count too.
    ///   - args: The document, the variables and the other parameters.
    public init(
        id: String,
        kind: Kind,
        request: URLRequest,
        policy: Policy = .cacheFirst,
        types: [String] = [],
        args: ExecutionArgs
    ) {
        self.id = id
        self.kind = kind
        self.policy = policy
        content = CopyOnWrite(Content(request: request, args: args, types: types))
    }

    /// Creates an operation that stands for a run of a pipeline.
    init(id: String, kind: Kind, policy: Policy, run: HostedRun) {
        self.id = id
        self.kind = kind
        self.policy = policy
        content = CopyOnWrite(Content(types: [], run: run))
    }

    /// The URL and header fields of the request.
    public var request: URLRequest {
        get { content.value.request ?? content.value.run?.request ?? .placeholder }
        set { content.value.request = newValue }
    }

    /// The document, the variables and the other parameters.
    public var args: ExecutionArgs {
        get { content.value.args ?? content.value.run?.args ?? ExecutionArgs(query: "") }
        set { content.value.args = newValue }
    }

    /// The names of the types in the operation's result, as far as they are known.
    public var types: [String] {
        get { content.value.types }
        set { content.value.types = newValue }
    }

    /// Returns a copy of the operation with another kind.
    public func with(kind: Kind) -> Operation {
        var operation = self
        operation.kind = kind
        return operation
    }

    /// Returns a copy of the operation with another policy.
    public func with(policy: Policy) -> Operation {
        var operation = self
        operation.policy = policy
        return operation
    }

    /// The header fields that interceptors and exchanges have scoped to the origin of the request.
    var scope: FieldScope? {
        get { content.value.scope }
        set { content.value.scope = newValue }
    }

    /// The number of the client's active operation that started the operation. It doesn't change if an exchange changes
    /// the policy.
    var requester: Int? {
        get { content.value.requester }
        set { content.value.requester = newValue }
    }

    /// The number of the active operation or run group that started the operation, or `nil` if it is unknown. It
    /// distinguishes equal operations with different policies.
    var effectiveRequester: Int? { requester ?? run?.groupNumber }

    /// The pipeline run that this operation stands for.
    var run: HostedRun? { content.value.run }
    /// The request that an exchange set in place of the run's.
    var changedRequest: URLRequest? { content.value.request }
    /// The parameters that an exchange set in place of the run's.
    var changedArgs: ExecutionArgs? { content.value.args }

    /// Whether the operation only reads from a store, and never from the network.
    var isCacheOnlyQuery: Bool { kind == .query && policy == .cacheOnly }

    /// The teardown that ends this operation.
    var teardown: Operation { with(kind: .teardown) }
}

extension Operation: Hashable {
    /// Returns whether two operations have the same id, kind, policy, types, request and arguments.
    public static func == (one: Operation, other: Operation) -> Bool {
        one.id == other.id && one.kind == other.kind && one.policy == other.policy && one.types == other.types
            && one.request == other.request && one.args == other.args
    }

    /// Hashes the operation's id and kind.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(kind)
    }
}

extension URLRequest {
    /// The request of an operation that has no known URL.
    static let placeholder = URLRequest(url: URL(fileURLWithPath: "/"))
}

extension Operation: CustomStringConvertible, CustomReflectable {
    /// The operation's kind, id, policy, URL, document and variables, with secrets redacted.
    public var description: String {
        let redactor = Beagle.dependencies.redactor
        let url = request.url.map { redactor.redact(url: $0) } ?? "nowhere"
        return "\(kind.rawValue) \(id), \(policy.rawValue), to \(url): \(args)"
    }
    /// A mirror without children, because `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
