@testable import BeagleNetGraphQL
import Foundation
import Testing

/// The effects of messages, without a WebSocket.
struct SocketSessionTests {
    private static func operation() -> SocketOperation { SocketOperation(Data()) { _ in } }

    private static func session(acknowledged: Bool = true) throws -> SocketSession {
        var session = SocketSession(.graphQLTransportWS)
        if acknowledged { _ = try session.receive(.acknowledgement(nil)) }
        return session
    }

    @Test func acknowledgementStartsPendingOperations() throws {
        var session = try Self.session(acknowledged: false)
        let ids = (0..<3).map { _ in session.add(Self.operation()) }
        _ = session.remove(ids[1])
        guard case .begin(let begun) = try session.receive(.acknowledgement(nil)) else {
            Issue.record("no operation starts")
            return
        }
        #expect(begun == [ids[0], ids[2]])
        guard case .nothing = try session.receive(.acknowledgement(nil)) else {
            Issue.record("the second acknowledgement starts operations")
            return
        }
    }

    @Test(arguments: [
        SocketMessage.result(id: 1, Data("{}".utf8)), .failure(id: 1, Data("[{}]".utf8)), .completion(id: 1),
    ])
    func messagesForAnOperationCountOnlyAfterItWasSent(message: SocketMessage) throws {
        var session = try Self.session()
        let id = session.add(Self.operation())
        guard case .nothing = try session.receive(message) else {
            Issue.record("a message counts before the operation was sent")
            return
        }
        _ = session.markSent(id)
        if case .nothing = try session.receive(message) { Issue.record("a message is ignored") }
    }

    @Test func idsAreNeverReused() throws {
        var session = try Self.session()
        let first = session.add(Self.operation())
        _ = session.remove(first)
        #expect(session.isEmpty)
        #expect(session.add(Self.operation()) != first)
    }

    @Test func holderKeepsTheSessionOpenAndIsNeverSent() throws {
        var session = try Self.session()
        let (holder, operation) = (SocketOperation(nil) { _ in }, Self.operation())
        let held = session.add(holder)
        let pending = session.markSent(held)
        #expect(pending == nil)
        #expect(!session.isEmpty)
        let id = session.add(operation)
        let holders = session.removeHolders()
        #expect(holders.count == 1)
        #expect(holders.first === holder)
        #expect(session.operation(held) == nil)
        #expect(session.operation(id) === operation)
    }

    @Test func removedOperationsSayWhetherTheyWereSent() throws {
        var session = try Self.session()
        let (pending, waiting) = (Self.operation(), Self.operation())
        _ = session.markSent(session.add(pending))
        _ = session.add(waiting)
        let left = session.removeAll()
        #expect(left.first { $0.operation === pending }?.isSent == true)
        #expect(left.first { $0.operation === waiting }?.isSent == false)
        #expect(session.isEmpty)
    }
}
