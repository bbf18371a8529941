public import BeagleNet
import BeagleNetHTTP
import Synchronization

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// An interceptor that runs a chain of exchanges in a pipeline.
///
/// ```swift
/// dependencies.interceptors.add(ExchangeInterceptor([LoggingExchange(), DedupExchange()]))
/// ```
///
/// Operations pass through the exchanges in order. If no exchange answers an operation, it continues to the rest of the
/// pipeline, and its results come back up through the exchanges. When the last caller of an operation cancels it, a
/// teardown goes down the chain. Changes that exchanges make to the URL, header fields, document and variables are
/// applied to the message. A result that an exchange returns itself is the operation's result.
///
/// - A result that is stale or has more results after it is emitted. The first result that is neither ends the
///   operation, and so does a failure without a response.
/// - An exchange may run an operation again with `client.reexecute` while the operation is in flight.
/// - An exchange may run an operation of its own with `client.execute` while another operation is in flight. A copy of
///   an operation with other `args` uses the credentials in the options of the original. Any other operation uses the
///   credentials of the operations in flight to its origin, if they are all the same.
/// - Operations and results are processed one at a time, whichever threads they come from. The cost of each is
///   independent of the number of active operations.
public struct ExchangeInterceptor: Interceptor {
    /// The kinds of GraphQL operations.
    public static let graphQLKinds: Set<NetworkOperation.Kind> = [.query, .mutation, .subscription]

    private static let mutations = Atomic<UInt64>(0)

    /// The position in the pipeline, or `nil` (the default) for any position.
    public let place: Pipeline.Place?
    // An array, because searching its few elements is faster than hashing.
    private let kinds: [NetworkOperation.Kind]
    let chain: HostedExchangeChain

    /// Creates an interceptor and registers the exchanges.
    ///
    /// - Parameters:
    ///   - exchanges: The exchanges. The first is at the top.
    ///   - kinds: The kinds of operations that go through the exchanges: those of GraphQL by default. To the exchanges,
    ///     a shared operation, such as a screen, is a query, and any other, such as a form, is a mutation.
    ///   - request: The request of the client that exchanges see. Each operation also has its own request.
    ///   - place: The position in the pipeline, or `nil` (the default) for any position.
    ///   - logger: The logger for the exchanges, or `nil` for the logger of `Beagle.dependencies`.
    public init(
        _ exchanges: [any Exchange],
        kinds: Set<NetworkOperation.Kind> = Self.graphQLKinds,
        request: URLRequest? = nil,
        place: Pipeline.Place? = nil,
        logger: (any BeagleLogger)? = nil
    ) {
        self.kinds = Array(kinds)
        self.place = place
        chain = HostedExchangeChain(
            exchanges,
            request: request ?? .placeholder,
            logger: logger ?? Beagle.dependencies.logger
        )
    }

    /// Returns whether the operation is of one of the interceptor's kinds.
    public func applies(to operation: NetworkOperation) -> Bool { kinds.contains(operation.kind) }

    /// Runs an operation through the exchange chain.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let run = HostedRun(operation, next: next, emit: emit)
        let kind = Operation.Kind(operation.kind)
        let exchangeOperation = Operation(
            id: Self.id(of: operation),
            kind: kind,
            policy: Operation.Policy(operation.policy),
            run: run
        )
        return try await chain.run(run, exchangeOperation)
    }

    /// Returns the key of a shared operation, or a unique id for any other.
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
