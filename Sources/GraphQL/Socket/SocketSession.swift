import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The conversation over one WebSocket, without the WebSocket: which operations there are, and what follows from a message.
///
/// An operation is asked for after the server has said that it takes some, each under a number of its own. What comes for
/// another number, or for one that was not asked for or is over, is passed over. A second acknowledgement changes nothing, as
/// with the reference (`graphql-ws`); anything but signs of life before the first breaks the protocol.
struct SocketSession {
    private struct Entry {
        let operation: SocketOperation
        var isAsked = false
    }

    /// What is to be done about a message.
    enum Step {
        case nothing
        /// These are to be asked for; the server may have said something with it.
        case begin([Int])
        case pong(Data?)
        case give(SocketOperation, Data)
        /// It is over.
        case end(SocketOperation, Data?)
        /// All are over, as the server takes none.
        case refuse(Data?)
    }

    let subprotocol: GraphQLSocketOptions.Subprotocol
    private(set) var isAcknowledged = false
    private var lastID = 0
    private var entries: [Int: Entry] = [:]

    init(_ subprotocol: GraphQLSocketOptions.Subprotocol) {
        self.subprotocol = subprotocol
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Takes an operation on.
    ///
    /// - Returns: its number. It is to be asked for at once where the server `isAcknowledged`.
    mutating func add(_ operation: SocketOperation) -> Int {
        lastID += 1
        entries[lastID] = Entry(operation: operation)
        return lastID
    }

    /// An operation; nil where nobody wants it any more.
    func operation(_ id: Int) -> SocketOperation? { entries[id]?.operation }

    /// Notes that an operation is asked for now; nil where nobody wants it any more, or it asks nothing.
    mutating func ask(_ id: Int) -> SocketOperation? {
        guard let operation = entries[id]?.operation, operation.parameters != nil else { return nil }
        entries[id]?.isAsked = true
        return operation
    }

    /// Lets an operation go; nil where it is over already.
    mutating func remove(_ id: Int) -> (operation: SocketOperation, isAsked: Bool)? {
        entries.removeValue(forKey: id).map { ($0.operation, $0.isAsked) }
    }

    /// Lets those go that ask nothing.
    mutating func removeHolders() -> [SocketOperation] {
        let holders = entries.filter { $0.value.operation.parameters == nil }
        for id in holders.keys { entries[id] = nil }
        return holders.values.map(\.operation)
    }

    /// Lets all go.
    mutating func removeAll() -> [(operation: SocketOperation, isAsked: Bool)] {
        defer { entries = [:] }
        return entries.values.map { ($0.operation, $0.isAsked) }
    }

    /// - Throws: `SocketFault` where the message must not come now.
    mutating func receive(_ message: SocketMessage) throws(SocketFault) -> Step {
        switch message {
        case .acknowledgement:
            if isAcknowledged { return .nothing }
            isAcknowledged = true
            return .begin(entries.keys.sorted())
        case .ping(let payload): return .pong(payload)
        case .signOfLife: return .nothing
        case .refusal(let payload): return .refuse(payload)
        case .result, .failure, .completion:
            guard isAcknowledged else { throw SocketFault(reason: "a message arrived before the acknowledgement") }
        }
        switch message {
        case .result(let id, let payload): return asked(id).map { .give($0, payload) } ?? .nothing
        case .failure(let id, let payload): return end(id, payload)
        case .completion(let id): return end(id, nil)
        default: return .nothing
        }
    }

    private func asked(_ id: Int?) -> SocketOperation? {
        guard let id, let entry = entries[id], entry.isAsked else { return nil }
        return entry.operation
    }

    private mutating func end(_ id: Int?, _ payload: Data?) -> Step {
        guard let id, let operation = asked(id) else { return .nothing }
        entries[id] = nil
        return .end(operation, payload)
    }
}
