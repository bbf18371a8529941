public import BeagleNetDependencies
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif
#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A client that runs operations, as its exchanges see it.
@preconcurrency
public protocol GraphQLClient: Sendable {
    /// The default URL and header fields of operations.
    var request: URLRequest { get }

    /// The logger of the client and its exchanges.
    ///
    /// SwiftGraphQLClient uses swift-log's `Logger` here. `SwiftLogLogger(_:)` converts one to a `BeagleLogger`.
    var logger: any BeagleLogger { get }

    /// Returns a publisher that runs an operation when it is subscribed to.
    ///
    /// Cancelling the subscription tears the operation down.
    ///
    /// - Parameter operation: The operation to run.
    /// - Returns: A publisher of the operation's results.
    func execute(operation: Operation) -> AnyPublisher<OperationResult, Never>

    /// Runs an active operation again, or ends it if the kind is `.teardown`.
    ///
    /// Does nothing if the operation has no subscribers.
    ///
    /// - Parameter operation: The operation to run. Its `id` identifies the subscribers.
    func reexecute(operation: Operation)
}
