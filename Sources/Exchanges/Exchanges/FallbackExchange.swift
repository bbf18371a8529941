import BeagleNetDependencies
import BeagleNetHTTP
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// The end of an exchange chain, which logs operations that no exchange has handled.
///
/// A `Client` has one below its exchanges that also answers such operations, so that subscribers don't wait forever.
public struct FallbackExchange: Exchange {
    private let debug: Bool
    private let answers: Bool

    /// Creates an exchange for the end of a chain.
    ///
    /// - Parameters:
    ///   - debug: Whether it logs a warning. The default is `true`.
    ///   - answers: Whether it answers with an error of kind `.unsupported`, as the last result. The default is
    ///     `false`: such operations get no result.
    public init(debug: Bool = true, answers: Bool = false) {
        self.debug = debug
        self.answers = answers
    }

    /// Connects the exchange to the streams.
    ///
    /// Exchanges below it receive nothing.
    public func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        operations.compactMap { [debug, answers, logger = client.logger] operation -> OperationResult? in
            guard operation.kind != .teardown else { return nil }
            let message = "no exchange handles operations of kind \(operation.kind)"
            if debug { logger.log(ExchangeLog(message, .warning)) }
            guard answers else { return nil }
            let error = NetworkError(.unsupported, during: .build, message, advice: "add an exchange that does")
            return OperationResult(operation: operation, data: nil, error: .unknown(error), hasNext: false)
        }
        .eraseToAnyPublisher()
    }
}

/// A log message of an exchange.
struct ExchangeLog: LogType {
    let message: String
    let level: LogLevel
    var category: String { "Exchange" }

    init(_ message: String, _ level: LogLevel) {
        self.message = message
        self.level = level
    }
}
