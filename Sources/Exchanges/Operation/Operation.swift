import BeagleNetHTTP

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// What goes down a ladder: something to ask, or that nobody waits for it any more.
///
/// Beside Foundation's class of the same name, write `import struct BeagleNetExchanges.Operation`.
public struct Operation: Sendable, Identifiable {
    /// What an operation does.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Reads.
        case query
        /// Changes, then reads.
        case mutation
        /// Reads each time something happens.
        case subscription
        /// Ends the operation of the same `id`: nobody waits for it any more.
        case teardown
    }

    /// Whether a stored answer will do.
    public enum Policy: String, Sendable, Hashable, CaseIterable {
        /// A stored answer where there is one, else the network.
        case cacheFirst = "cache-first"
        /// A stored answer; where there is none, a result without data.
        case cacheOnly = "cache-only"
        /// The network.
        case networkOnly = "network-only"
        /// A stored answer at once, marked stale, and then the network's.
        case cacheAndNetwork = "cache-and-network"

        /// Whether the network is asked in any case.
        public var isNetwork: Bool { self == .networkOnly || self == .cacheAndNetwork }
    }

    private struct Content: Sendable {
        /// nil where it is made of the run's when somebody looks.
        var request: URLRequest?
        var args: ExecutionArgs?
        var types: [String]
        var run: HostedRun?
        var asker: Int?
        var scope: FieldScope?
    }

    /// What tells operations apart: the same for all that ask the same.
    public var id: String
    /// What it does.
    public var kind: Kind
    /// Whether a stored answer will do.
    public var policy: Policy
    private var content: CopyOnWrite<Content>

    /// Describes an operation.
    ///
    /// - Parameters:
    ///   - id: what tells operations apart.
    ///   - kind: what it does.
    ///   - request: where it goes: URL and header fields.
    ///   - policy: whether a stored answer will do.
    ///   - types: the names of the types that its answer is made of, as far as they are known: a mutation makes stored
    ///     answers stale that have one of its own. Those that answers name in `__typename` count too.
    ///   - args: what is sent.
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

    /// An operation of a pipeline's.
    init(id: String, kind: Kind, policy: Policy, run: HostedRun) {
        self.id = id
        self.kind = kind
        self.policy = policy
        content = CopyOnWrite(Content(types: [], run: run))
    }

    /// Where it goes: URL and header fields.
    public var request: URLRequest {
        get { content.value.request ?? content.value.run?.request ?? .nowhere }
        set { content.value.request = newValue }
    }

    /// What is sent.
    public var args: ExecutionArgs {
        get { content.value.args ?? content.value.run?.args ?? ExecutionArgs(query: "") }
        set { content.value.args = newValue }
    }

    /// The names of the types that its answer is made of, as far as they are known.
    public var types: [String] {
        get { content.value.types }
        set { content.value.types = newValue }
    }

    /// The same of another kind.
    public func with(kind: Kind) -> Operation {
        var operation = self
        operation.kind = kind
        return operation
    }

    /// The same with another policy.
    public func with(policy: Policy) -> Operation {
        var operation = self
        operation.policy = policy
        return operation
    }

    /// The header fields that interceptors and exchanges said belong to the origin that is asked.
    var scope: FieldScope? {
        get { content.value.scope }
        set { content.value.scope = newValue }
    }

    /// Which of a client's sources asked, whatever exchanges make of the policy.
    var asker: Int? {
        get { content.value.asker }
        set { content.value.asker = newValue }
    }

    /// Tells apart those who ask the same in different ways; nil where nobody did that is known.
    var whoAsked: Int? { asker ?? run?.row }

    /// The run in a pipeline that it stands for.
    var run: HostedRun? { content.value.run }
    /// What an exchange put in the place of the run's request.
    var changedRequest: URLRequest? { content.value.request }
    /// What an exchange put in the place of what the run sends.
    var changedArgs: ExecutionArgs? { content.value.args }

    /// Whether it is to be answered from a store alone.
    var isReading: Bool { kind == .query && policy == .cacheOnly }

    /// What ends this operation.
    var teardown: Operation { with(kind: .teardown) }
}

extension Operation: Hashable {
    /// Whether two ask the same in the same way.
    public static func == (one: Operation, other: Operation) -> Bool {
        one.id == other.id && one.kind == other.kind && one.policy == other.policy && one.types == other.types
            && one.request == other.request && one.args == other.args
    }

    /// Adds what tells them apart.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(kind)
    }
}

extension URLRequest {
    /// Where an operation goes of which nobody knows.
    static let nowhere = URLRequest(url: URL(fileURLWithPath: "/"))
}

extension Operation: CustomStringConvertible, CustomReflectable {
    /// What it does, where it goes, and document and variables, with their secrets replaced.
    public var description: String {
        let redactor = Beagle.dependencies.redactor
        let url = request.url.map { redactor.redact(url: $0) } ?? "nowhere"
        return "\(kind.rawValue) \(id), \(policy.rawValue), to \(url): \(args)"
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
