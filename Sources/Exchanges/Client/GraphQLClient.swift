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

/// Who runs operations: what an exchange sees of the client that it belongs to.
@preconcurrency
public protocol GraphQLClient: Sendable {
    /// Where operations go that name no request of their own.
    var request: URLRequest { get }

    /// Where the client and its exchanges say what they do. A `BeagleLogger`, where SwiftGraphQLClient has swift-log's
    /// `Logger`: `SwiftLogLogger(_:)` makes one of the other.
    var logger: any BeagleLogger { get }

    /// Runs an operation. Nothing is done before somebody subscribes; cancelling is the operation's teardown.
    ///
    /// - Parameter operation: what to run.
    /// - Returns: all that comes of it.
    func execute(operation: Operation) -> AnyPublisher<OperationResult, Never>

    /// Runs an operation again whose results somebody waits for; nothing happens where nobody does. One of kind
    /// `.teardown` ends it: it says that there is nothing more to come.
    ///
    /// - Parameter operation: what to run; its `id` says who waits.
    func reexecute(operation: Operation)
}
