public import BeagleNet
import BeagleNetHTTP
import Synchronization

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A ladder of exchanges in a pipeline of ours.
///
/// ```swift
/// dependencies.interceptors.add(ExchangeInterceptor([LoggingExchange(), DedupExchange()]))
/// ```
///
/// Operations go down the exchanges in their order. What none of them handles goes on to the rest of the pipeline, and what
/// comes of that goes up. Cancelling sends a teardown down when nobody waits any more. What exchanges change of URL, header
/// fields, document and variables is changed in the message; what they answer themselves is the operation's answer.
///
/// - A result that is stale, or has more after it, is emitted; the next that is neither is the last. So is a failure that
///   is no answer of the server's.
/// - An exchange may have an operation run again, with `client.reexecute`, for as long as it is under way.
/// - It may run one of its own, with `client.execute`, while another is under way. Made of another, as a copy with other
///   `args`, it goes with the credentials in that one's options; else with those of who is under way to its origin, if they are
///   all the same.
/// - Everything runs in turns, whichever threads operations and answers are from. The cost of one does not grow with how
///   many are active.
public struct ExchangeInterceptor: Interceptor {
    /// The kinds of GraphQL operations.
    public static let graphQLKinds: Set<NetworkOperation.Kind> = [.query, .mutation, .subscription]

    private static let mutations = Atomic<UInt64>(0)

    /// `place` in the pipeline; nil, the default, anywhere.
    public let place: Pipeline.Place?
    // An array, as the first ones are found sooner than any is hashed.
    private let kinds: [NetworkOperation.Kind]
    let ladder: HostedLadder

    /// Registers the exchanges.
    ///
    /// - Parameters:
    ///   - exchanges: the first is on top.
    ///   - kinds: which operations go through them; those of GraphQL by default. What is shared, as a screen, is a query to
    ///     the exchanges, and what is not, as a form, a mutation.
    ///   - request: what exchanges see as their client's request; they see each operation's own in the operation.
    ///   - place: where in a pipeline it belongs; nil, the default, anywhere.
    ///   - logger: where exchanges say what they do; the logger of `Beagle.dependencies` where nil.
    public init(
        _ exchanges: [any Exchange],
        kinds: Set<NetworkOperation.Kind> = Self.graphQLKinds,
        request: URLRequest? = nil,
        place: Pipeline.Place? = nil,
        logger: (any BeagleLogger)? = nil
    ) {
        self.kinds = Array(kinds)
        self.place = place
        ladder = HostedLadder(
            exchanges,
            request: request ?? .nowhere,
            logger: logger ?? Beagle.dependencies.logger
        )
    }

    /// With operations of its kinds.
    public func applies(to operation: NetworkOperation) -> Bool { kinds.contains(operation.kind) }

    /// Sends an operation down the ladder.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let run = HostedRun(operation, next: next, emit: emit)
        let kind = Operation.Kind(operation.kind)
        let asked = Operation(
            id: Self.id(of: operation),
            kind: kind,
            policy: Operation.Policy(operation.policy),
            run: run
        )
        return try await ladder.run(run, asked)
    }

    /// The key of what is shared; what is not has a number of its own.
    private static func id(of operation: NetworkOperation) -> String {
        if let key = operation.key { return Operation.text(key.words) }
        return "run-\(mutations.add(1, ordering: .relaxed).newValue)"
    }
}

extension Operation.Kind {
    fileprivate init(_ kind: NetworkOperation.Kind) {
        self =
            switch kind {
            case .mutation: .mutation
            case .subscription: .subscription
            default: kind.isShared ? .query : .mutation
            }
    }
}
