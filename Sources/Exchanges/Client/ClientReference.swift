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
    private let target = Lock(Target())

    init(request: URLRequest, logger: any BeagleLogger) {
        self.request = request
        self.logger = logger
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
