import BeagleNetHTTP
import Foundation
import Testing

@testable import BeagleNetExchanges
import struct BeagleNetExchanges.Operation

/// An exchange, and a test at both of its ends. What is true of it is true wherever it stands: each vector is written once,
/// and runs between two ends of the test's (`ExchangeWorld`) and in a ladder that a pipeline hosts (`HostedWorld`).
///
/// The original's tests of `takeUntil` and of the first value are those of operators, which stand in no ladder
/// (`TakeUntilTests`, `FirstValueTests`); that of its socket is one before real servers (`ServersTests`,
/// `HostedServersTests`).
protocol LadderWorld: Sendable {
    var log: LadderLog { get }

    /// Sends an operation in at the top.
    func ask(_ operation: Operation) async
    /// Has a result come from below, for the operation that waits for it there.
    func answer(_ result: OperationResult) async
    /// Nobody waits for an operation any more.
    func leave(_ operation: Operation) async
}

/// How the ladder is driven.
enum LadderWay: String, CaseIterable, CustomTestStringConvertible {
    case alone
    case hosted

    var testDescription: String { rawValue }

    func world(_ exchange: any Exchange, logger: any BeagleLogger = OffLogger()) throws -> any LadderWorld {
        switch self {
        case .alone:
            let log = LadderLog()
            return ExchangeWorld(exchange, NotingClient(logger: logger) { log.note(again: $0) }, log: log)
        case .hosted: return try HostedWorld(exchange, logger: logger)
        }
    }
}

extension LadderWorld {
    /// What went down, came up, was left and run again: `q>>`, `=>hello`, `q|` and `again q network-only`.
    var events: [String] { log.events }
    /// What came up.
    var results: [OperationResult] { log.results }

    func ask(_ operations: [Operation]) async {
        for operation in operations { await ask(operation) }
    }

    /// Asks, and answers from below.
    func ask(_ operation: Operation, _ data: AnyCodable) async {
        await ask(operation)
        await answer(operation.result(data))
    }
}

/// What passes the ends of an exchange.
final class LadderLog: Sendable {
    private struct State: Sendable {
        var forwarded: [Operation] = []
        var results: [OperationResult] = []
        var events: [String] = []
        /// What has gone down and is not answered.
        var underWay: Set<String> = []
    }

    private let state = Lock(State())

    var forwarded: [Operation] { state.withLock { $0.forwarded } }
    var results: [OperationResult] { state.withLock { $0.results } }
    var events: [String] { state.withLock { $0.events } }

    func note(_ event: String) { state.withLock { $0.events.append(event) } }

    func note(again operation: Operation) { note("again \(operation.name) \(operation.policy.rawValue)") }

    /// A teardown is an event where there is something to end.
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
            if result.stale != true, result.hasNext != true, !result.operation.isReading {
                state.underWay.remove(name)
            }
        }
    }
}

extension Operation {
    /// What tests call it: its `id`, unless a pipeline has made one of its own.
    var name: String { request.value(forHTTPHeaderField: "X-Name") ?? id }
}
