@testable import BeagleNetGraphQL
@testable import BeagleNetHTTP
@testable import BeagleNetTesting
import Foundation

/// A server for operations of every `WireKind`. It responds with the received credentials and language, or fails as
/// scripted by a test.
final class WireServer: Sendable {
    /// The failure of an operation.
    enum Fault: Sendable {
        /// The response has this status. For a shared connection, the request that opens it gets this status.
        case status(Int, retryAfter: Int? = nil)
        /// The response has a GraphQL error with this code.
        case error(String)
        /// The connection is lost after the request.
        case lost
        /// There is no response.
        case stall
        /// The response waits for the gate.
        case gate(LoopbackServer.Gate)
    }

    /// A received operation or a rejected handshake.
    struct Received: Sendable {
        var authorization: String?
        var language: String?
        var key: String?
        var body: Data
    }

    private struct State {
        var requests: [Received] = []
        var faults: [Fault] = []
        var token: String?
        /// The number of operations cancelled over a WebSocket.
        var completes = 0
        /// The stream with the results of operations that share one.
        var stream: SharedStream?
    }

    private let state: AwaitedValue<State>
    private let server: LoopbackServer

    /// - Parameters:
    ///   - faults: The failures of the first operations, in order.
    ///   - token: The required value of `Authorization`, or `nil` to accept any.
    ///   - moved: The URL to which all requests are redirected, or `nil` for no redirect.
    init(_ faults: [Fault] = [], token: String? = nil, moved: String? = nil) throws {
        let state = AwaitedValue(State(faults: faults, token: token))
        self.state = state
        server = try LoopbackServer { request in
            if let moved {
                state.note { $0.requests.append(Received(request)) }
                return .response(307, ["Location": moved + request.target])
            }
            return Self.answer(request, state)
        }
    }

    /// A URL that refuses connections: the system never assigns this port.
    static let nowhere = "http://127.0.0.1:1"

    var url: String { server.url }
    var requests: [Received] { state.value.requests }
    var count: Int { requests.count }

    /// Accepts only these credentials from now on.
    func take(only token: String) { state.note { $0.token = token } }

    /// Fails with these from now on.
    func fail(_ faults: [Fault]) { state.note { $0.faults = faults } }

    /// Waits until this many operations have arrived.
    func waitForRequests(_ count: Int) async {
        await state.until { $0.requests.count >= count }
    }

    /// Waits until the client has cancelled the operation, by closing its connection or with a message.
    func hasReceived(_ kind: WireKind) async {
        if kind.isSocket { return await state.until { $0.completes > 0 } }
        await server.until { $0.openConnections == 0 }
    }

    private static func answer(_ request: LoopbackServer.Request, _ state: AwaitedValue<State>)
        -> LoopbackServer.Response
    {
        if request["Upgrade"] != nil { return refusal(request, state) ?? shakeHands(request, state) }
        if request.method == "PUT" {
            return refusal(request, state) ?? .response(201, ["Content-Type": "text/plain"], "t")
        }
        if request.method == "DELETE" { return .response(200) }
        let token = "x-graphql-event-stream-token"
        if request.method == "GET", request[token] != nil { return stream(state) }
        let (fault, needed) = state.note { state in
            state.requests.append(Received(request))
            return (state.faults.isEmpty ? nil : state.faults.removeFirst(), state.token)
        }
        let isAllowed = needed.map { $0 == request["Authorization"] } ?? true
        let result = request[token] == nil ? whole(request) : shared(request, state)
        let answer = isAllowed ? result : .response(401)
        switch fault {
        case nil: return answer
        case .status(let code, let seconds):
            return seconds.map { .response(code, ["Retry-After": "\($0)"]) } ?? .response(code, [:], "<p>no</p>")
        case .error(let code):
            let error = #"{"errors":[\#(Self.error(code))]}"#
            return .json(request.body.first == UInt8(ascii: "[") ? "[\(error),\(error)]" : error)
        case .lost: return .reset
        case .stall: return .stall
        case .gate(let gate): return .sequence([.gate(gate), answer])
        }
    }

    private static func error(_ code: String) -> String { #"{"message":"no","extensions":{"code":"\#(code)"}}"# }

    private static func value(_ request: LoopbackServer.Request) -> String {
        #"{"data":{"v":"\#(request["Authorization"] ?? "-") \#(request["X-Language"] ?? "-")"}}"#
    }

    private static func whole(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        let value = value(request)
        let accept = request["Accept"] ?? ""
        if accept.hasPrefix("text/event-stream") {
            return .events("event: next\ndata: \(value)\n\nevent: complete\ndata:\n\n")
        }
        if accept.contains("subscriptionSpec") {
            let part = "--graphql\r\nContent-Type: application/json\r\n\r\n{\"payload\":\(value)}\r\n--graphql--\r\n"
            return .parts(part)
        }
        if accept.contains("deferSpec") {
            let head = value.dropLast() + #","hasNext":true}"#
            let parts = [head, #"{"hasNext":false}"#].map { "--a\r\nContent-Type: application/json\r\n\r\n\($0)\r\n" }
            return .chunked([Data((parts.joined() + "--a--\r\n").utf8)], ["Content-Type": "multipart/mixed;boundary=a"])
        }
        let isList = request.body.first == UInt8(ascii: "[")
        return .json(isList ? "[\(value),\(value)]" : value)
    }

    /// Returns the rejection of a request that opens a connection for operations, if there is one.
    private static func refusal(_ request: LoopbackServer.Request, _ state: AwaitedValue<State>) -> LoopbackServer
        .Response?
    {
        state.note { state -> LoopbackServer.Response? in
            if let token = state.token, token != request["Authorization"] {
                state.requests.append(Received(request))
                return .response(401)
            }
            guard case .status(let code, let seconds) = state.faults.first else { return nil }
            state.requests.append(Received(request))
            state.faults.removeFirst()
            return seconds.map { .response(code, ["Retry-After": "\($0)"]) } ?? .response(code, [:], "<p>no</p>")
        }
    }

    /// Responds to an operation whose result is sent on a shared stream.
    private static func shared(_ request: LoopbackServer.Request, _ state: AwaitedValue<State>)
        -> LoopbackServer.Response
    {
        let id = (try? JSONValue(parsing: request.body))?["extensions"]?["operationId"]?.string ?? ""
        let next = #"event: next\#ndata: {"id":"\#(id)","payload":\#(value(request))}\#n\#n"#
        let text = next + "event: complete\ndata: {\"id\":\"\(id)\"}\n\n"
        return .sequence([
            .played { _ in
                state.value.stream?.say(text)
                return true
            }, .response(202),
        ])
    }

    private static func stream(_ state: AwaitedValue<State>) -> LoopbackServer.Response {
        guard let stream = try? SharedStream() else { return .response(500) }
        state.note { $0.stream = stream }
        return .sequence([.begun(":\n\n"), .played { stream.play(on: &$0) }])
    }

    private static func shakeHands(_ request: LoopbackServer.Request, _ state: AwaitedValue<State>)
        -> LoopbackServer.Response
    {
        let accept = (try? WebSocketHandshake.accept(request["Sec-WebSocket-Key"] ?? "")) ?? ""
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        let fields = "Sec-WebSocket-Protocol: graphql-transport-ws\r\nSec-WebSocket-Accept: \(accept)\r\n\r\n"
        return .sequence([
            .raw(head + fields),
            .played { connection in
                var peer = SocketServer.Peer(
                    connection: connection,
                    request: request,
                    received: SocketServer.ReceivedMessages()
                )
                peer.acknowledge()
                while let message = peer.receive() {
                    if message["type"] == "complete" { state.note { $0.completes += 1 } }
                    guard message["type"] == "subscribe", let id = message["id"]?.string else { continue }
                    var received = Received(request)
                    received.body = (try? message["payload"]?.data()) ?? Data()
                    let fault = state.note { [received] state in
                        state.requests.append(received)
                        return state.faults.isEmpty ? nil : state.faults.removeFirst()
                    }
                    switch fault {
                    case .stall: continue
                    case .error(let code):
                        peer.say(#"{"id":"\#(id)","type":"error","payload":[\#(error(code))]}"#)
                        continue
                    case .gate(let gate): peer.wait(for: gate)
                    case .lost:
                        peer.reset()
                        return false
                    case .status, nil: break
                    }
                    peer.say(#"{"id":"\#(id)","type":"next","payload":\#(value(request))}"#)
                    peer.complete(id)
                }
                return false
            },
        ])
    }
}

extension WireServer.Received {
    fileprivate init(_ request: LoopbackServer.Request) {
        authorization = request["Authorization"]
        language = request["X-Language"]
        key = request["Idempotency-Key"]
        body = request.body
    }
}

/// An endless stream of events.
private final class SharedStream: Sendable {
    private let state: Lock<(due: [String], gate: LoopbackServer.Gate)>

    init() throws(NetworkError) {
        state = Lock(([], try LoopbackServer.Gate()))
    }

    func say(_ text: String) {
        let gate = state.withLock { state in
            state.due.append(text)
            return state.gate
        }
        gate.open()
    }

    /// Sends events until the client or the server closes the connection.
    func play(on connection: inout Connection) -> Bool {
        while connection.play(.wait(state.withLock { $0.gate }), method: nil), let gate = try? LoopbackServer.Gate() {
            let due = state.withLock { state in
                defer { state = ([], gate) }
                return state.due
            }
            guard connection.send(Data(due.map { LoopbackServer.Response.chunk($0) }.joined().utf8)) else { break }
        }
        return false
    }
}
