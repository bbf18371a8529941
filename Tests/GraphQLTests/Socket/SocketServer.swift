@testable import BeagleNetGraphQL
@testable import BeagleNetHTTP
@testable import BeagleNetTesting
import Foundation

/// A server of operations over WebSockets that does with each connection what a test says, and notes what it hears.
final class SocketServer: Sendable {
    typealias Play = @Sendable (inout Peer) -> Void

    private let server: LoopbackServer
    let heard = Heard()

    /// - Parameters:
    ///   - subprotocol: what it says that it speaks; nil: nothing.
    ///   - play: called for each connection, on a thread of its own; the connection ends with it.
    init(_ subprotocol: String? = "graphql-transport-ws", _ play: @escaping Play) throws {
        let heard = heard
        server = try LoopbackServer { request in
            let accept = (try? WebSocketHandshake.accept(request["Sec-WebSocket-Key"] ?? "")) ?? ""
            let fields = subprotocol.map { "Sec-WebSocket-Protocol: \($0)\r\n" } ?? ""
            let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            return .sequence([
                .raw(head + fields + "Sec-WebSocket-Accept: \(accept)\r\n\r\n"),
                .played { connection in
                    heard.note { $0.connections += 1 }
                    var peer = Peer(connection: connection, request: request, heard: heard)
                    play(&peer)
                    heard.note { $0.ended += 1 }
                    return false
                },
            ])
        }
    }

    var authority: String { server.authority }
    /// What it took of all that clients sent, in bytes.
    var bytesTaken: Int { server.record.bytesReceived }
    /// The handshakes so far.
    var requests: [LoopbackServer.Request] { server.requests }

    /// An endpoint whose operations all go there over WebSockets, which are kept for longer than any machine is slow, unless
    /// `options` say otherwise.
    func endpoint(
        _ options: GraphQLSocketOptions = .lasting,
        headers: [String: String] = [:]
    ) throws -> GraphQLEndpoint {
        guard let url = URL(string: "http://\(server.authority)/graphql") else { throw URLError(.badURL) }
        var endpoint = GraphQLEndpoint(url, headers: headers)
        endpoint.subscriptions = [.webSocket(options)]
        endpoint.kindsOverSubscriptions = [.query, .mutation, .subscription]
        return endpoint
    }
}

extension SocketServer {
    /// What a server has heard on all connections.
    final class Heard: Sendable {
        struct Record: Sendable {
            var connections = 0
            /// Connections that are over.
            var ended = 0
            /// Messages, as they came.
            var messages: [String] = []
            /// What clients said goodbye with.
            var closes: [WebSocketClose] = []

            /// Messages of this type.
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

        /// Waits until something was heard.
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

    /// One connection, from the server's side.
    struct Peer {
        var connection: Connection
        let request: LoopbackServer.Request
        let heard: Heard

        /// The next message; nil where the client says goodbye, which is answered, or the connection ends.
        mutating func hear() -> JSONValue? {
            while let (opcode, _, payload) = connection.readFrame() {
                switch opcode {
                case 8:
                    if let close = try? WebSocketClose(payload: Array(payload)) {
                        heard.note { $0.closes.append(close) }
                    }
                    _ = connection.send(frame: 8, payload.prefix(2))
                    return nil
                case 9: _ = connection.send(frame: 10, payload)
                case 10: break
                default:
                    heard.note { $0.messages.append(String(decoding: payload, as: UTF8.self)) }
                    return try? JSONValue(parsing: payload)
                }
            }
            return nil
        }

        /// Hears until the client has nothing more to say.
        mutating func hearAll() {
            while hear() != nil {}
        }

        /// The next message of this type.
        @discardableResult
        mutating func hear(_ type: String) -> JSONValue? {
            while let message = hear() {
                if message["type"]?.string == type { return message }
            }
            return nil
        }

        /// The id of the next operation.
        mutating func operation(_ type: String = "subscribe") -> String {
            hear(type)?["id"]?.string ?? ""
        }

        /// Takes the beginning, and says that operations are taken.
        mutating func acknowledge() {
            hear("connection_init")
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

        /// Sends bytes as they are.
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

        /// Says goodbye, and hears what comes until the client does.
        mutating func close(_ code: UInt16, _ reason: String = "") {
            let payload = Data([UInt8(code >> 8), UInt8(code & 0xFF)]) + Data(reason.utf8)
            if connection.send(frame: 8, payload) { hearAll() }
        }

        /// Waits until the test opens it.
        mutating func wait(for gate: LoopbackServer.Gate) {
            _ = connection.play(.wait(gate), method: nil)
        }

        /// Has the system keep no more of what it does not take than about 64 KiB: else that may be many MiB.
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

        /// Whether so many bytes have come that it did not take, or more.
        func hasLeft(_ count: Int) -> Bool {
            var bytes = [UInt8](repeating: 0, count: count)
            return recv(connection.socket.descriptor, &bytes, count, Int32(MSG_PEEK)) == count
        }

        /// Says that it sends no more, and takes whatever comes.
        mutating func finish() {
            _ = connection.play(.finish, method: nil)
            takeAll()
        }

        /// Takes whatever comes until the end of the connection.
        mutating func takeAll() {
            _ = connection.play(.stall, method: nil)
        }

        /// Ends the connection abruptly, when all that was sent before has arrived.
        mutating func reset() {
            say(#"{"type":"ping"}"#)
            hear("pong")
            connection.socket.resetOnClose()
        }
    }
}

extension GraphQLSocketOptions {
    /// Those of connections that end with their server.
    static var lasting: GraphQLSocketOptions {
        var options = GraphQLSocketOptions()
        options.linger = .seconds(600)
        return options
    }
}
