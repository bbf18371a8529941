import BeagleNetExchanges

import struct BeagleNetExchanges.Operation

/// Passes everything through.
struct DoNothingExchange: Exchange {
    func register(
        client: GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        next(operations)
    }
}

/// Prints operations and results.
struct LoggingExchange: Exchange {
    func register(
        client: GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        let downstream =
            operations
            .print("down", to: Lines.shared)
            .eraseToAnyPublisher()

        let upstream = next(downstream)
            .print("up", to: Lines.shared)
            .eraseToAnyPublisher()

        return upstream
    }
}

/// Prints to standard output, as in the seed.
struct PrintingExchange: Exchange {
    func register(
        client: GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        let downstream =
            operations
            .print()
            .eraseToAnyPublisher()

        let upstream = next(downstream)
            .print()
            .eraseToAnyPublisher()

        return upstream
    }
}

/// Handles subscriptions to the time itself, like a user's exchange that processes operations: it shares the stream,
/// filters its own operations, makes a stream of results for each, ends it at the teardown, and merges it with the rest.
struct TimeExchange: Exchange {
    let answers: AnyPublisher<Int, Never>

    func register(
        client: GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        let shared = operations.share()

        let upstream =
            shared
            .filter { $0.kind == .subscription && $0.args.operationName == "Time" }
            .flatMap { operation -> AnyPublisher<OperationResult, Never> in
                let torndown =
                    shared
                    .filter { $0.kind == .teardown && $0.id == operation.id }

                return
                    answers
                    .map {
                        OperationResult(operation: operation, data: ["time": AnyCodable($0)], error: nil, stale: false)
                    }
                    .takeUntil(torndown)
                    .eraseToAnyPublisher()
            }

        let downstream =
            shared
            .filter { $0.kind != .subscription || $0.args.operationName != "Time" }
            .eraseToAnyPublisher()

        return next(downstream)
            .merge(with: upstream)
            .eraseToAnyPublisher()
    }
}
