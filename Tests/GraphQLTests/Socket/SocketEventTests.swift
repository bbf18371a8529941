import BeagleNetGraphQL
import BeagleNetTesting
import Foundation
import Testing

/// What an app hears of the connections of its WebSockets.
@Suite(.timeLimit(.minutes(1)))
struct SocketEventTests {
    /// Notes events, in words.
    private final class EventLog: Sendable {
        private let log = Lock<[String]>([])

        var words: [String] { log.withLock { $0 } }

        func note(_ event: GraphQLSocketEvent) { log.withLock { $0.append(event.words) } }

        /// Waits until so many were heard.
        func until(_ count: Int) async {
            while words.count < count { await Task.yield() }
        }
    }

    private let log = EventLog()

    private var options: GraphQLSocketOptions {
        var options = GraphQLSocketOptions.lasting
        options.onEvent = { [log] in log.note($0) }
        return options
    }

    @Test func lifeOfAConnectionAndOfTheNextIsTold() async throws {
        let server = try SocketServer { peer in
            let isFirst = peer.request.connection == 1
            peer.hear("connection_init")
            peer.say(isFirst ? #"{"type":"connection_ack","payload":{"session":1}}"# : #"{"type":"connection_ack"}"#)
            let id = peer.operation()
            if isFirst {
                peer.say(#"{"type":"ping","payload":{"n":7}}"#)
                peer.hear("pong")
                return peer.close(4408, "late")
            }
            peer.complete(id)
            peer.hearAll()
        }
        let endpoint = try server.endpoint(options)
        let client = SocketClient()
        #expect(try await client.subscribe(endpoint).error?.kind == .network)
        await log.until(6)
        #expect(try await client.subscribe(endpoint).error == nil)
        endpoint.retireConnections()
        await log.until(10)
        #expect(
            log.words == [
                "connecting", "opened", #"connected {"session":1}"#, #"ping received {"n":7}"#, #"pong sent {"n":7}"#,
                "closed 4408 late",
                "connecting again", "opened", "connected again nothing", "closed 1000",
            ]
        )
    }

    @Test func connectionThatCannotBeOpenedFailsAndIsClosed() async throws {
        var endpoint = GraphQLEndpoint(try #require(URL(string: "http://127.0.0.1:1/graphql")))
        endpoint.subscriptions = [.webSocket(options)]
        #expect(try await SocketClient.shared.subscribe(endpoint).error?.kind == .connect)
        await log.until(3)
        #expect(log.words == ["connecting", "failed connect", "closed 1006"])
    }

    @Test func serverThatBreaksTheProtocolIsAFailure() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            peer.say("nonsense")
            peer.hearAll()
        }
        #expect(try await SocketClient.shared.subscribe(server.endpoint(options)).error?.kind == .protocol)
        await log.until(5)
        #expect(log.words.dropLast() == ["connecting", "opened", "connected nothing", "failed protocol"])
        #expect(log.words.last?.hasPrefix("closed 4004 ") == true)
    }

    @Test func signsOfLifeThatAreAskedForAreTold() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            peer.hear("ping")
            peer.say(#"{"type":"pong","payload":{"load":2}}"#)
            peer.complete(id)
            peer.hearAll()
        }
        var options = options
        options.keepAlive = .milliseconds(10)
        #expect(try await SocketClient.shared.subscribe(server.endpoint(options)).error == nil)
        // It may be heard just after the answer to it.
        while !log.words.contains("ping sent nothing") { await Task.yield() }
        #expect(log.words.contains(#"pong received {"load":2}"#))
    }

    @Test func signOfLifeOfTheOlderProtocolIsTold() async throws {
        let server = try SocketServer("graphql-ws") { peer in
            peer.acknowledge()
            peer.say(#"{"type":"ka"}"#)
            peer.complete(peer.operation("start"))
            peer.hearAll()
        }
        var options = options
        options.subprotocol = .graphQLWS
        #expect(try await SocketClient.shared.subscribe(server.endpoint(options)).error == nil)
        #expect(log.words == ["connecting", "opened", "connected nothing", "pong received nothing"])
    }
}

extension GraphQLSocketEvent {
    fileprivate var words: String {
        switch self {
        case .connecting(let isRetry): isRetry ? "connecting again" : "connecting"
        case .opened: "opened"
        case .connected(let payload, let isRetry):
            "connected \(isRetry ? "again " : "")\(payload?.words ?? "nothing")"
        case .ping(let direction, let payload): "ping \(direction) \(payload?.words ?? "nothing")"
        case .pong(let direction, let payload): "pong \(direction) \(payload?.words ?? "nothing")"
        case .failed(let error): "failed \(error.kind.rawValue)"
        case .closed(let close): "closed \(close.code.rawValue)" + (close.reason.isEmpty ? "" : " \(close.reason)")
        }
    }
}
