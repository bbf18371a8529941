import BeagleNetGraphQL
import BeagleNetTesting
import Foundation
import Testing

/// The events that an app receives about its WebSocket connections.
@Suite(.timeLimit(.minutes(5)))
struct SocketEventTests {
    /// Descriptions of the reported events.
    private let log = AwaitedValue<[String]>([])

    private var options: GraphQLSocketOptions {
        var options = GraphQLSocketOptions.lasting
        options.onEvent = { [log] event in log.note { $0.append(event.words) } }
        return options
    }

    @Test func eventsCoverTheLifeOfAConnectionAndOfItsSuccessor() async throws {
        let server = try SocketServer { peer in
            let isFirst = peer.request.connection == 1
            peer.receive("connection_init")
            peer.say(isFirst ? #"{"type":"connection_ack","payload":{"session":1}}"# : #"{"type":"connection_ack"}"#)
            let id = peer.operation()
            if isFirst {
                peer.say(#"{"type":"ping","payload":{"n":7}}"#)
                peer.receive("pong")
                return peer.close(4408, "late")
            }
            peer.complete(id)
            peer.hearAll()
        }
        let endpoint = try server.endpoint(options)
        let client = SocketClient()
        #expect(try await client.subscribe(endpoint).error?.kind == .network)
        await log.until { $0.count >= 6 }
        #expect(try await client.subscribe(endpoint).error == nil)
        endpoint.retireConnections()
        await log.until { $0.count >= 10 }
        #expect(
            log.value == [
                "connecting", "opened", #"connected {"session":1}"#, #"ping received {"n":7}"#, #"pong sent {"n":7}"#,
                "closed 4408 late",
                "connecting again", "opened", "connected again nothing", "closed 1000",
            ]
        )
    }

    @Test func failedConnectReportsFailedAndClosed() async throws {
        var endpoint = GraphQLEndpoint(try #require(URL(string: "http://127.0.0.1:1/graphql")))
        endpoint.subscriptions = [.webSocket(options)]
        #expect(try await SocketClient.shared.subscribe(endpoint).error?.kind == .connect)
        await log.until { $0.count >= 3 }
        #expect(log.value == ["connecting", "failed connect", "closed 1006"])
    }

    @Test func protocolViolationReportsFailedAndClosed() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            peer.say("nonsense")
            peer.hearAll()
        }
        #expect(try await SocketClient.shared.subscribe(server.endpoint(options)).error?.kind == .protocol)
        await log.until { $0.count >= 5 }
        #expect(log.value.dropLast() == ["connecting", "opened", "connected nothing", "failed protocol"])
        #expect(log.value.last?.hasPrefix("closed 4004 ") == true)
    }

    @Test func keepAlivePingAndPongAreReported() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            peer.receive("ping")
            peer.say(#"{"type":"pong","payload":{"load":2}}"#)
            peer.complete(id)
            peer.hearAll()
        }
        var options = options
        options.keepAlive = .milliseconds(10)
        #expect(try await SocketClient.shared.subscribe(server.endpoint(options)).error == nil)
        // The event may be reported just after the pong that follows it.
        await log.until { $0.contains("ping sent nothing") }
        #expect(log.value.contains(#"pong received {"load":2}"#))
    }

    /// A number that no value can represent is not a connection failure.
    @Test func pingAndPongWithATooLargeNumberKeepTheConnection() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            let id = peer.operation()
            peer.say(#"{"type":"pong","payload":{"load":1e999}}"#)
            peer.say(#"{"type":"ping","payload":{"load":1e999}}"#)
            peer.receive("pong")
            peer.complete(id)
            peer.hearAll()
        }
        #expect(try await SocketClient.shared.subscribe(server.endpoint(options)).error == nil)
        await log.until { $0.count >= 6 }
        let load = #"{"load":1.7976931348623157e+308}"#
        #expect(log.value.dropFirst(3) == ["pong received \(load)", "ping received \(load)", "pong sent \(load)"])
    }

    @Test func unusedConnectionIsClosedWithoutACloseFrame() async throws {
        let server = try LoopbackServer { _ in .stall }
        var options = options
        options.lingerDuration = .zero
        var endpoint = GraphQLEndpoint(try #require(URL(string: "http://\(server.authority)/graphql")))
        endpoint.subscriptions = [.webSocket(options)]
        let held = try SocketClient.shared.client.holdWebSocket(of: endpoint)
        await log.until { $0 == ["connecting"] }
        held.cancel()
        await log.until { $0.count == 2 }
        #expect(log.value == ["connecting", "closed 1006"])
    }

    @Test func tooLargeMessageReportsFailedAndClosed() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            peer.say(#"{"type":"ping","payload":{"text":"\#(String(repeating: "a", count: 2_000))"}}"#)
            peer.hearAll()
        }
        var endpoint = try server.endpoint(options)
        endpoint.maxMessageBytes = 1_000
        #expect(try await SocketClient.shared.subscribe(endpoint).error?.kind == .tooLarge)
        await log.until { $0.count >= 5 }
        #expect(log.value.suffix(2) == ["failed too_large", "closed 1006"])
    }

    /// Messages that have already arrived are not read to the end.
    @Test func connectionIsTerminatedWhileTheServerSends() async throws {
        let server = try SocketServer { peer in
            peer.acknowledge()
            _ = peer.operation()
            while peer.say(#"{"type":"pong"}"#) { Thread.sleep(forTimeInterval: 0.001) }
        }
        let endpoint = try server.endpoint(options)
        let client = SocketClient()
        async let outcome = client.subscribe(endpoint)
        await log.until { $0.contains("pong received nothing") }
        endpoint.terminateWebSockets()
        #expect(try await outcome.error?.kind == .network)
        await log.until { $0.last == "closed 4499 Terminated" }
        #expect(!log.value.contains { $0.hasPrefix("failed") })
    }

    @Test func keepAliveOfTheOlderProtocolIsReportedAsAPong() async throws {
        let server = try SocketServer("graphql-ws") { peer in
            peer.acknowledge()
            peer.say(#"{"type":"ka"}"#)
            peer.complete(peer.operation("start"))
            peer.hearAll()
        }
        var options = options
        options.subprotocol = .graphQLWS
        #expect(try await SocketClient.shared.subscribe(server.endpoint(options)).error == nil)
        #expect(log.value == ["connecting", "opened", "connected nothing", "pong received nothing"])
    }
}

extension GraphQLSocketOptions.Event {
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
