import BeagleNetDependencies
import BeagleNetHTTP
import Foundation
#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif
#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A weak reference to the client, for its exchanges. After the client is deallocated, calls have no effect.
final class ClientReference: GraphQLClient {
    private struct Target: Sendable {
        weak var client: (any GraphQLClient & AnyObject)?
    }

    let request: URLRequest
    let logger: any BeagleLogger
    /// The serial queue of the client's chain.
    let queue: SerialQueue
    private let target = Lock(Target())

    init(request: URLRequest, logger: any BeagleLogger, in queue: SerialQueue) {
        self.request = request
        self.logger = logger
        self.queue = queue
    }

    var client: (any GraphQLClient & AnyObject)? {
        get { target.withLock { $0.client } }
        set { target.withLock { $0.client = newValue } }
    }

    func execute(operation: Operation) -> AnyPublisher<OperationResult, Never> {
        client?.execute(operation: operation) ?? Empty().eraseToAnyPublisher()
    }

    func reexecute(operation: Operation) {
        client?.reexecute(operation: operation)
    }
}

extension GraphQLClient {
    /// Runs a closure on the chain's serial queue, so that subscribers don't change in the meantime. A client of
    /// another type runs it immediately.
    func runOnQueue(_ body: @escaping () -> Void) {
        guard let queue = (self as? ClientReference)?.queue else { return body() }
        queue.run(body)
    }

    /// Runs a closure on the chain's serial queue, and waits until it and all earlier work are done.
    nonisolated(nonsending) func runOnQueueAndWait(_ body: @escaping () -> Void) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            runOnQueue {
                body()
                continuation.resume()
            }
        }
    }
}
