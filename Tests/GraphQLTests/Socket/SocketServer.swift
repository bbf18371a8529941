@testable import BeagleNetGraphQL
@testable import BeagleNetHTTP
@testable import BeagleNetTesting
import Foundation

/// A scripted GraphQL server over WebSockets that records the messages it receives.
final class SocketServer: Sendable {
    typealias Play = @Sendable (inout Peer) -> Void

    private let server: LoopbackServer
    let received = ReceivedMessages()

    /// - Parameters:
    ///   - subprotocol: The subprotocol that the server selects, or `nil` for none.
    ///   - play: Called for each connection on its own thread. The connection ends when it returns.
    init(_ subprotocol: String? = "graphql-transport-ws", _ play: @escaping Play) throws {
        let received = received
        server = try LoopbackServer { request in
            let accept = (try? WebSocketHandshake.accept(request["Sec-WebSocket-Key"] ?? "")) ?? ""
            let fields = subprotocol.map { "Sec-WebSocket-Protocol: \($0)\r\n" } ?? ""
            let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            return .sequence([
                .raw(head + fields + "Sec-WebSocket-Accept: \(accept)\r\n\r\n"),
                .played { connection in
                    received.note { $0.connections += 1 }
                    var peer = Peer(connection: connection, request: request, received: received)
                    play(&peer)
                    received.note { $0.ended += 1 }
                    return false
                },
            ])
        }
    }

    var authority: String { server.authority }
    /// The number of bytes that the server has read.
    var bytesTaken: Int { server.record.bytesReceived }
    /// The handshake requests so far.
    var requests: [LoopbackServer.Request] { server.requests }

    /// Returns an endpoint that sends all operations to this server over WebSockets. Unless `options` say otherwise,
    /// the connections linger for longer than any slow machine needs.
    func endpoint(
        _ options: GraphQLSocketOptions = .lasting,
        headers: [String: String] = [:]
    ) throws -> GraphQLEndpoint {
        guard let url = URL(string: "http://\(server.authority)/graphql") else { throw URLError(.badURL) }
        var endpoint = GraphQLEndpoint(url, headers: headers)
        endpoint.subscriptions = [.webSocket(options)]
        endpoint.kindsOverSubscriptionTransports = [.query, .mutation, .subscription]
        return endpoint
    }
}

extension SocketServer {
    /// Everything that a server has received on all connections.
    final class ReceivedMessages: Sendable {
        struct Record: Sendable {
            var connections = 0
            /// The number of ended connections.
            var ended = 0
            /// Messages in the order of arrival.
            var messages: [String] = []
            /// The close frames of clients.
            var closes: [WebSocket.Close] = []

            /// Returns the number of messages of this type.
            func count(_ type: String) -> Int { messages.count { $0.contains(#""type":"\#(type)""#) } }
        }

        private struct State {
            var record = Record()
            var waiters: [(isMet: @Sendable (Record) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
        }

        private let state = Lock(State())

        var record: Record { state.withLock { $0.record } }

        func note(_ change: (inout Record) -> Void) {
            let met = state.withLock { state in
                change(&state.record)
                let record = state.record
                let met = state.waiters.filter { $0.isMet(record) }
                state.waiters.removeAll { $0.isMet(record) }
                return met.map(\.continuation)
            }
            for continuation in met { continuation.resume() }
        }

        /// Waits until the record meets a condition.
        func until(_ isMet: @escaping @Sendable (Record) -> Bool) async {
            await withCheckedContinuation { continuation in
                let isMetAlready = state.withLock { state in
                    if isMet(state.record) { return true }
                    state.waiters.append((isMet, continuation))
                    return false
                }
                if isMetAlready { continuation.resume() }
            }
        }
    }

    /// The server's side of one connection.
    struct Peer {
        var connection: Connection
        let request: LoopbackServer.Request
        let received: ReceivedMessages

        /// Returns the next message, or `nil` if the connection ends. A close frame is echoed and also gives `nil`.
        mutating func receive() -> JSONValue? {
            while let (opcode, _, payload) = connection.readFrame() {
                switch opcode {
                case 8:
                    if let close = try? WebSocket.Close(payload: Array(payload)) {
                        received.note { $0.closes.append(close) }
                    }
                    _ = connection.send(frame: 8, payload.prefix(2))
                    return nil
                case 9: _ = connection.send(frame: 10, payload)
                case 10: break
                default:
                    received.note { $0.messages.append(String(decoding: payload, as: UTF8.self)) }
                    return try? JSONValue(parsing: payload)
                }
            }
            return nil
        }

        /// Reads messages until the client closes the connection.
        mutating func hearAll() {
            while receive() != nil {}
        }

        /// Waits for the next message of this type.
        @discardableResult
        mutating func receive(_ type: String) -> JSONValue? {
            while let message = receive() {
                if message["type"]?.string == type { return message }
            }
            return nil
        }

        /// Returns the id of the next operation.
        mutating func operation(_ type: String = "subscribe") -> String {
            receive(type)?["id"]?.string ?? ""
        }

        /// Waits for `connection_init` and sends `connection_ack`.
        mutating func acknowledge() {
            receive("connection_init")
            say(#"{"type":"connection_ack"}"#)
        }

        @discardableResult
        mutating func say(_ text: String) -> Bool {
            connection.send(frame: 1, Data(text.utf8))
        }

        /// Sends a frame of this opcode.
        mutating func send(frame opcode: UInt8, _ payload: Data) {
            _ = connection.send(frame: opcode, payload)
        }

        /// Sends raw bytes.
        mutating func send(_ bytes: Data) {
            _ = connection.send(bytes)
        }

        @discardableResult
        mutating func next(_ id: String, _ number: Int, _ type: String = "next") -> Bool {
            say(#"{"id":"\#(id)","type":"\#(type)","payload":{"data":{"n":\#(number)}}}"#)
        }

        mutating func complete(_ id: String) {
            say(#"{"id":"\#(id)","type":"complete"}"#)
        }

        /// Sends a close frame and reads until the client closes, too.
        mutating func close(_ code: UInt16, _ reason: String = "") {
            let payload = Data([UInt8(code >> 8), UInt8(code & 0xFF)]) + Data(reason.utf8)
            if connection.send(frame: 8, payload) { hearAll() }
        }

        /// Waits until the test opens the gate.
        mutating func wait(for gate: LoopbackServer.Gate) {
            _ = connection.play(.wait(gate), method: nil)
        }

        /// Limits the system's receive buffer to about 64 KiB, because it may otherwise grow to many MiB.
        func keepLittle() {
            var size: Int32 = 64 << 10
            let result = setsockopt(
                connection.socket.descriptor,
                SOL_SOCKET,
                SO_RCVBUF,
                &size,
                socklen_t(MemoryLayout<Int32>.size)
            )
            precondition(result == 0, "the receive buffer cannot be set")
        }

        /// Whether at least this many bytes have arrived that the server has not read.
        func hasLeft(_ count: Int) -> Bool {
            var bytes = [UInt8](repeating: 0, count: count)
            return recv(connection.socket.descriptor, &bytes, count, Int32(MSG_PEEK)) == count
        }

        /// Shuts down the sending side and reads everything that arrives.
        mutating func finish() {
            _ = connection.play(.finish, method: nil)
            takeAll()
        }

        /// Reads everything that arrives until the connection ends.
        mutating func takeAll() {
            _ = connection.play(.stall, method: nil)
        }

        /// Resets the connection after everything sent before has arrived.
        mutating func reset() {
            say(#"{"type":"ping"}"#)
            receive("pong")
            connection.socket.resetOnClose()
        }
    }
}

extension GraphQLSocketOptions {
    /// Options of connections that stay open until their server ends.
    static var lasting: GraphQLSocketOptions {
        var options = GraphQLSocketOptions()
        options.lingerDuration = .seconds(600)
        return options
    }
}
