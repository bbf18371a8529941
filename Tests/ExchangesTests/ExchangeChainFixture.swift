import BeagleNetHTTP
import Foundation
import Testing

@testable import BeagleNetExchanges
import struct BeagleNetExchanges.Operation

/// An exchange with a test at both of its ends. Its behavior doesn't depend on its position: each vector is written once and
/// runs both between two ends of the test (`ExchangeFixture`) and hosted in a pipeline (`HostedFixture`).
///
/// The original's tests of `takeUntil` and of the first value are about operators and need no exchanges (`TakeUntilTests`,
/// `FirstValueTests`). Its test of the socket runs with real servers (`ServersTests`, `HostedServersTests`).
protocol ExchangeChainFixture: Sendable {
    var log: ExchangeEventLog { get }

    /// Sends an operation from above.
    func ask(_ operation: Operation) async
    /// Sends a result from below, for the pending operation.
    func answer(_ result: OperationResult) async
    /// Cancels the subscribers of an operation.
    func leave(_ operation: Operation) async
}

/// The way in which a test drives the exchange.
enum ExchangePlacement: String, CaseIterable, CustomTestStringConvertible {
    case alone
    case hosted

    var testDescription: String { rawValue }

    func fixture(_ exchange: any Exchange, logger: any BeagleLogger = OffLogger()) throws -> any ExchangeChainFixture {
        switch self {
        case .alone:
            let log = ExchangeEventLog()
            return ExchangeFixture(exchange, CallRecordingClient(logger: logger) { log.note(again: $0) }, log: log)
        case .hosted: return try HostedFixture(exchange, logger: logger)
        }
    }
}

extension ExchangeChainFixture {
    /// Forwarded operations, results, teardowns and reexecutions: `q>>`, `=>hello`, `q|` and `again q network-only`.
    var events: [String] { log.events }
    /// The results that arrived at the top.
    var results: [OperationResult] { log.results }

    func ask(_ operations: [Operation]) async {
        for operation in operations { await ask(operation) }
    }

    /// Sends an operation and then its result.
    func ask(_ operation: Operation, _ data: AnyCodable) async {
        await ask(operation)
        await answer(operation.result(data))
    }
}

/// Records everything that passes the ends of an exchange.
final class ExchangeEventLog: Sendable {
    private struct State: Sendable {
        var forwarded: [Operation] = []
        var results: [OperationResult] = []
        var events: [String] = []
        /// The forwarded operations without a result.
        var underWay: Set<String> = []
    }

    private let state = Lock(State())

    var forwarded: [Operation] { state.withLock { $0.forwarded } }
    var results: [OperationResult] { state.withLock { $0.results } }
    var events: [String] { state.withLock { $0.events } }

    func note(_ event: String) { state.withLock { $0.events.append(event) } }

    func note(again operation: Operation) { note("again \(operation.name) \(operation.policy.rawValue)") }

    /// A teardown is an event only if it ends a pending operation.
    func note(forwarded operation: Operation) {
        let name = operation.name
        state.withLock { state in
            state.forwarded.append(operation)
            if operation.kind != .teardown {
                state.underWay.insert(name)
                state.events.append("\(name)>>")
            } else if state.underWay.remove(name) != nil {
                state.events.append("\(name)|")
            }
        }
    }

    func note(result: OperationResult) {
        let (name, text) = (result.operation.name, result.data.string ?? "nil")
        state.withLock { state in
            state.results.append(result)
            state.events.append("=>\(text)\(result.stale == true ? " stale" : "")")
            if result.stale != true, result.hasNext != true, !result.operation.isCacheOnlyQuery {
                state.underWay.remove(name)
            }
        }
    }
}

extension Operation {
    /// The name of the operation in tests: its `id`, unless a pipeline created the id.
    var name: String { request.value(forHTTPHeaderField: "X-Name") ?? id }
}
