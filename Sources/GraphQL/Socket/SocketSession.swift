import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The protocol state of a WebSocket, without the connection: the operations, and the reaction to each message.
///
/// Operations are sent after the server has acknowledged the connection, each with a number of its own. Messages for
/// unknown numbers, and for operations that haven't been sent or have ended, are ignored. A second acknowledgement has
/// no effect, as in the reference (`graphql-ws`). Any message other than a ping or pong before the first
/// acknowledgement is a protocol violation.
struct SocketSession {
    private struct Entry {
        let operation: SocketOperation
        var isSent = false
    }

    /// The reaction to a message.
    enum Step {
        case nothing
        /// Sends the operations with these numbers.
        case begin([Int])
        case pong(Data?)
        case deliver(SocketOperation, Data)
        /// Ends an operation.
        case end(SocketOperation, Data?)
        /// Ends all operations, because the server refused the connection.
        case reject(Data?)
    }

    let subprotocol: GraphQLSocketOptions.Subprotocol
    private(set) var isAcknowledged = false
    private var lastID = 0
    private var entries: [Int: Entry] = [:]

    init(_ subprotocol: GraphQLSocketOptions.Subprotocol) {
        self.subprotocol = subprotocol
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Adds an operation.
    ///
    /// - Returns: The operation's number. If the server `isAcknowledged`, send the operation immediately.
    mutating func add(_ operation: SocketOperation) -> Int {
        lastID += 1
        entries[lastID] = Entry(operation: operation)
        return lastID
    }

    /// Returns an operation, or `nil` if it has ended.
    func operation(_ id: Int) -> SocketOperation? { entries[id]?.operation }

    /// Marks an operation as sent and returns it. Returns `nil` if it has ended or is a hold.
    mutating func markSent(_ id: Int) -> SocketOperation? {
        guard let operation = entries[id]?.operation, operation.parameters != nil else { return nil }
        entries[id]?.isSent = true
        return operation
    }

    /// Removes an operation. Returns `nil` if it has already ended.
    mutating func remove(_ id: Int) -> (operation: SocketOperation, isSent: Bool)? {
        entries.removeValue(forKey: id).map { ($0.operation, $0.isSent) }
    }

    /// Removes the holds.
    mutating func removeHolders() -> [SocketOperation] {
        let holders = entries.filter { $0.value.operation.parameters == nil }
        for id in holders.keys { entries[id] = nil }
        return holders.values.map(\.operation)
    }

    /// Removes all operations.
    mutating func removeAll() -> [(operation: SocketOperation, isSent: Bool)] {
        defer { entries = [:] }
        return entries.values.map { ($0.operation, $0.isSent) }
    }

    /// - Throws: `SocketProtocolError` if the message is not allowed now.
    mutating func receive(_ message: SocketMessage) throws(SocketProtocolError) -> Step {
        switch message {
        case .acknowledgement:
            if isAcknowledged { return .nothing }
            isAcknowledged = true
            return .begin(entries.keys.sorted())
        case .ping(let payload): return .pong(payload)
        case .keepAlive: return .nothing
        case .refusal(let payload): return .reject(payload)
        case .result, .failure, .completion:
            guard isAcknowledged else {
                throw SocketProtocolError(reason: "a message arrived before the acknowledgement")
            }
        }
        switch message {
        case .result(let id, let payload): return sentOperation(id).map { .deliver($0, payload) } ?? .nothing
        case .failure(let id, let payload): return end(id, payload)
        case .completion(let id): return end(id, nil)
        default: return .nothing
        }
    }

    private func sentOperation(_ id: Int?) -> SocketOperation? {
        guard let id, let entry = entries[id], entry.isSent else { return nil }
        return entry.operation
    }

    private mutating func end(_ id: Int?, _ payload: Data?) -> Step {
        guard let id, let operation = sentOperation(id) else { return .nothing }
        entries[id] = nil
        return .end(operation, payload)
    }
}
