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

/// The client as its exchanges have it: they don't keep it alive. When it is gone, nothing comes of what they ask.
final class ClientReference: GraphQLClient {
    private struct Target: Sendable {
        weak var client: (any GraphQLClient & AnyObject)?
    }

    let request: URLRequest
    let logger: any BeagleLogger
    /// Where its ladder takes turns.
    let lane: Lane
    private let target = Lock(Target())

    init(request: URLRequest, logger: any BeagleLogger, in lane: Lane) {
        self.request = request
        self.logger = logger
        self.lane = lane
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
    /// Does something in a turn of its ladder's, so that nobody leaves or comes meanwhile; at once where it has none of ours.
    func inTurn(_ body: @escaping () -> Void) {
        guard let lane = (self as? ClientReference)?.lane else { return body() }
        lane.run(body)
    }

    /// The same, and waits until it is done, and all that was left to be done before.
    nonisolated(nonsending) func waitForTurn(_ body: @escaping () -> Void) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            inTurn {
                body()
                continuation.resume()
            }
        }
    }
}
