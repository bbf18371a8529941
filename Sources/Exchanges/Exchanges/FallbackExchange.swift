import BeagleNetDependencies
import BeagleNetHTTP
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// The bottom of a ladder: says which operations no exchange has handled. A `Client` has one below its exchanges, which
/// answers too, so that nobody waits for ever.
public struct FallbackExchange: Exchange {
    private let debug: Bool
    private let answers: Bool

    /// An exchange for the bottom.
    ///
    /// - Parameters:
    ///   - debug: whether it says anything. Yes by default.
    ///   - answers: whether it answers with an error of kind `.unsupported`, as the last result. No by default: nothing comes
    ///     of such operations.
    public init(debug: Bool = true, answers: Bool = false) {
        self.debug = debug
        self.answers = answers
    }

    /// Hooks it into the streams; what is below it gets nothing.
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

/// What exchanges say.
struct ExchangeLog: LogType {
    let message: String
    let level: LogLevel
    var category: String { "Exchange" }

    init(_ message: String, _ level: LogLevel) {
        self.message = message
        self.level = level
    }
}
