public import BeagleNetDependencies
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// Says which operations go down past it, and which results come up, to the client's logger. What they hold is not said:
/// it may be secret.
public struct LogExchange: Exchange {
    private let level: LogLevel

    /// An exchange that says what passes.
    ///
    /// - Parameter level: the level of its messages, `debug` by default.
    public init(level: LogLevel = .debug) {
        self.level = level
    }

    /// Hooks it into the streams.
    public func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        let (logger, level) = (client.logger, level)
        let downstream = operations.handleEvents(receiveOutput: { operation in
            guard logger.accepts(level) else { return }
            logger.log(ExchangeLog("incoming \(operation.kind) \(operation.id), \(operation.policy.rawValue)", level))
        })
        return next(downstream.eraseToAnyPublisher())
            .handleEvents(receiveOutput: { result in
                let error = result.error
                guard logger.accepts(level) else { return }
                var text = "completed \(result.operation.kind) \(result.operation.id)"
                if result.stale == true { text += ", stale" }
                if let error { text += ": \(error.name)" }
                logger.log(ExchangeLog(text, level))
            })
            .eraseToAnyPublisher()
    }
}

extension CombinedError {
    /// What it is, without what the server said.
    fileprivate var name: String {
        switch self {
        case .graphql(let errors): "\(errors.count) GraphQL error\(errors.count == 1 ? "" : "s")"
        case .network, .unknown: networkError?.description ?? "error"
        }
    }
}
