@testable import BeagleNetGraphQL
@testable import BeagleNetHTTP
@testable import BeagleNetTesting
import Foundation

/// A server that answers operations of every `WireKind`, with the credentials and the language that it was sent, and fails
/// as a test says.
final class WireServer: Sendable {
    /// What becomes of one operation instead of an answer.
    enum Fault: Sendable {
        /// It is answered with this; one that shares a connection where that is made.
        case status(Int, retryAfter: Int? = nil)
        /// It is answered with an error of this code.
        case error(String)
        /// The connection breaks behind it.
        case lost
        /// Nothing comes.
        case stall
        /// The answer waits.
        case gate(LoopbackServer.Gate)
    }

    /// An operation that came, or a handshake that was refused.
    struct Asked: Sendable {
        var authorization: String?
        var language: String?
        var key: String?
        var body: Data
    }

    private struct State {
        var asked: [Asked] = []
        var faults: [Fault] = []
        var token: String?
        /// How often an operation over a WebSocket was taken back.
        var completes = 0
        /// That on which results come of operations that share one.
        var stream: SharedStream?
    }

    private let state: Noted<State>
    private let server: LoopbackServer

    /// - Parameters:
    ///   - faults: what becomes of the first operations, one after another.
    ///   - token: what `Authorization` must say; nil for anything.
    ///   - moved: where everything is to be asked instead; nil: here.
    init(_ faults: [Fault] = [], token: String? = nil, moved: String? = nil) throws {
        let state = Noted(State(faults: faults, token: token))
        self.state = state
        server = try LoopbackServer { request in
            if let moved {
                state.note { $0.asked.append(Asked(request)) }
                return .response(307, ["Location": moved + request.target])
            }
            return Self.answer(request, state)
        }
    }

    /// Where nobody listens: a port that the system gives nobody.
    static let nowhere = "http://127.0.0.1:1"

    var url: String { server.url }
    var asked: [Asked] { state.value.asked }
    var count: Int { asked.count }

    /// Takes only these credentials from now on.
    func take(only token: String) { state.note { $0.token = token } }

    /// Fails with these from now on.
    func fail(_ faults: [Fault]) { state.note { $0.faults = faults } }

    /// Waits until so many operations have come.
    func asked(_ count: Int) async {
        await state.until { $0.asked.count >= count }
    }

    /// Waits until the client has taken back what it asked: its connection is closed, or the server told over it.
    func isTold(_ kind: WireKind) async {
        if kind.isSocket { return await state.until { $0.completes > 0 } }
        await server.until { $0.openConnections == 0 }
    }

    private static func answer(_ request: LoopbackServer.Request, _ state: Noted<State>) -> LoopbackServer.Answer {
        if request["Upgrade"] != nil { return refusal(request, state) ?? shakeHands(request, state) }
        if request.method == "PUT" {
            return refusal(request, state) ?? .response(201, ["Content-Type": "text/plain"], "t")
        }
        if request.method == "DELETE" { return .response(200) }
        let token = "x-graphql-event-stream-token"
        if request.method == "GET", request[token] != nil { return stream(state) }
        let (fault, needed) = state.note { state in
            state.asked.append(Asked(request))
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

    private static func whole(_ request: LoopbackServer.Request) -> LoopbackServer.Answer {
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

    /// What is wrong with who makes a connection for operations.
    private static func refusal(_ request: LoopbackServer.Request, _ state: Noted<State>) -> LoopbackServer.Answer? {
        state.note { state -> LoopbackServer.Answer? in
            if let token = state.token, token != request["Authorization"] {
                state.asked.append(Asked(request))
                return .response(401)
            }
            guard case .status(let code, let seconds) = state.faults.first else { return nil }
            state.asked.append(Asked(request))
            state.faults.removeFirst()
            return seconds.map { .response(code, ["Retry-After": "\($0)"]) } ?? .response(code, [:], "<p>no</p>")
        }
    }

    /// The answer to an operation whose result comes on the stream that it shares.
    private static func shared(_ request: LoopbackServer.Request, _ state: Noted<State>) -> LoopbackServer.Answer {
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

    private static func stream(_ state: Noted<State>) -> LoopbackServer.Answer {
        guard let stream = try? SharedStream() else { return .response(500) }
        state.note { $0.stream = stream }
        return .sequence([.begun(":\n\n"), .played { stream.play(on: &$0) }])
    }

    private static func shakeHands(_ request: LoopbackServer.Request, _ state: Noted<State>) -> LoopbackServer.Answer {
        let accept = (try? WebSocketHandshake.accept(request["Sec-WebSocket-Key"] ?? "")) ?? ""
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        let fields = "Sec-WebSocket-Protocol: graphql-transport-ws\r\nSec-WebSocket-Accept: \(accept)\r\n\r\n"
        return .sequence([
            .raw(head + fields),
            .played { connection in
                var peer = SocketServer.Peer(connection: connection, request: request, heard: SocketServer.Heard())
                peer.acknowledge()
                while let message = peer.hear() {
                    if message["type"] == "complete" { state.note { $0.completes += 1 } }
                    guard message["type"] == "subscribe", let id = message["id"]?.string else { continue }
                    var asked = Asked(request)
                    asked.body = (try? message["payload"]?.data()) ?? Data()
                    let fault = state.note { [asked] state in
                        state.asked.append(asked)
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

extension WireServer.Asked {
    fileprivate init(_ request: LoopbackServer.Request) {
        authorization = request["Authorization"]
        language = request["X-Language"]
        key = request["Idempotency-Key"]
        body = request.body
    }
}

/// A stream of events without end.
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

    /// Sends what is said, until the client or the server leaves.
    func play(on connection: inout Connection) -> Bool {
        while connection.play(.wait(state.withLock { $0.gate }), method: nil), let gate = try? LoopbackServer.Gate() {
            let due = state.withLock { state in
                defer { state = ([], gate) }
                return state.due
            }
            guard connection.send(Data(due.map { LoopbackServer.Answer.chunk($0) }.joined().utf8)) else { break }
        }
        return false
    }
}
