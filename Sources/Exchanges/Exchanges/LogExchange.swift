public import BeagleNetDependencies
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// An exchange that logs operations and results to the client's logger.
///
/// It doesn't log their content, which may be secret.
public struct LogExchange: Exchange {
    private let level: LogLevel

    /// Creates an exchange that logs operations and results.
    ///
    /// - Parameter level: The level of its messages, `debug` by default.
    public init(level: LogLevel = .debug) {
        self.level = level
    }

    /// Connects the exchange to the streams.
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
    /// A description of the error without text from the server.
    fileprivate var name: String {
        switch self {
        case .graphql(let errors): "\(errors.count) GraphQL error\(errors.count == 1 ? "" : "s")"
        case .network, .unknown: networkError?.description ?? "error"
        }
    }
}
