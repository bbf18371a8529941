import BeagleNetGraphQL
import BeagleNetHTTP
import Foundation

/// The server's side of graphql-transport-ws (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md), on the
/// thread of its connection.
struct GraphQLWebSocketSession {
    private let graphQL: DemoGraphQL
    private let socket: BackendWebSocket
    private var isAcknowledged = false
    private var operations: [String: GraphQLResults] = [:]

    private static let maxOperations = 100

    /// The reason that the server closes the connection.
    private struct Refusal: Error {
        let code: UInt16
        let reason: String
    }

    init(_ graphQL: DemoGraphQL, _ socket: BackendWebSocket) {
        self.graphQL = graphQL
        self.socket = socket
    }

    /// Serves operations until either side ends the connection.
    func run() throws {
        var session = self
        do {
            try session.serve()
        } catch let refusal as Refusal {
            try socket.close(refusal.code, refusal.reason)
        }
    }

    private mutating func serve() throws {
        let begin = ContinuousClock.now
        var nextEvents = begin + DemoGraphQL.eventInterval
        while true {
            let limit = isAcknowledged ? ContinuousClock.now + .seconds(3600) : begin + .seconds(10)
            switch try socket.next(by: operations.isEmpty ? limit : nextEvents) {
            case .closed: return
            case .message(.text(let text)): try handle(text)
            case .message(.binary): throw Refusal(code: 4400, reason: "Invalid message received")
            case .timeout:
                guard isAcknowledged else { throw Refusal(code: 4408, reason: "Connection initialisation timeout") }
            }
            // Events are sent on time even if the client sends many messages.
            if ContinuousClock.now >= nextEvents {
                try sendResults()
                nextEvents = .now + DemoGraphQL.eventInterval
            }
        }
    }

    private mutating func handle(_ text: String) throws {
        guard let message = try? JSONValue(parsing: text), let type = message["type"]?.string else {
            throw Refusal(code: 4400, reason: "Invalid message received")
        }
        switch type {
        case "connection_init":
            guard !isAcknowledged else { throw Refusal(code: 4429, reason: "Too many initialisation requests") }
            isAcknowledged = true
            try send(["type": "connection_ack"])
        case "ping":
            var pong: [String: JSONValue] = ["type": "pong"]
            pong["payload"] = message["payload"]
            try send(.object(pong))
        case "pong": break
        case "complete": operations[message["id"]?.string ?? ""] = nil
        case "subscribe": try subscribe(message)
        default: throw Refusal(code: 4400, reason: "Invalid message received")
        }
    }

    private mutating func subscribe(_ message: JSONValue) throws {
        guard isAcknowledged else { throw Refusal(code: 4401, reason: "Unauthorized") }
        guard let id = message["id"]?.string, !id.isEmpty, let payload = message["payload"]?.object else {
            throw Refusal(code: 4400, reason: "Invalid message received")
        }
        guard operations[id] == nil else { throw Refusal(code: 4409, reason: "Subscriber for this id already exists") }
        guard operations.count < Self.maxOperations else { throw Refusal(code: 4429, reason: "Too many operations") }
        switch Result(catching: { () throws(DemoSchema.Fault) in try graphQL.execution(of: payload) }) {
        case .success(let execution):
            var results = GraphQLResults(execution)
            if execution.kind == .subscription {
                operations[id] = results
                return
            }
            if let result = results.next() { try send(["type": "next", "id": .string(id), "payload": result]) }
            try send(["type": "complete", "id": .string(id)])
        case .failure(let fault):
            try send(["type": "error", "id": .string(id), "payload": [GraphQLExecution.entry(fault)]])
        }
    }

    private mutating func sendResults() throws {
        for id in operations.keys.sorted() {
            if let result = operations[id]?.next() {
                try send(["type": "next", "id": .string(id), "payload": result])
            } else {
                operations[id] = nil
                try send(["type": "complete", "id": .string(id)])
            }
        }
    }

    private func send(_ message: JSONValue) throws {
        try socket.send(.text("\(message)"))
    }
}
