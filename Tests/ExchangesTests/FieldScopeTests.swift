import BeagleNetExchanges
import BeagleNetHTTP
import Foundation
import Testing

import struct BeagleNetExchanges.Operation

/// The origins that receive header fields from exchanges and their interceptors.
@Suite(.timeLimit(.minutes(5))) struct FieldScopeTests {
    private static let urls = ["http://host/graphql", "http://m%C3%BCnchen.de/graphql", "http://[::1]:8080/graphql"]

    /// Redirects messages to another host, with a token for that host, which replaces the existing one or is appended to it.
    private func moving(_ name: HTTPField.Name, isBehind: Bool) -> InterceptorExchange {
        InterceptorExchange(
            TransformInterceptor { message in
                message.head.authority = "elsewhere"
                if !isBehind { message.head.headerFields[name] = nil }
                message.head.headerFields.append(HTTPField(name: name, value: "new"))
                message.originScopedFields.insert(name)
            }
        )
    }

    private func auth(_ header: String = "X-Token") -> AuthExchange {
        AuthExchange(header: header, getToken: { "old" })
    }

    /// Returns the request that is sent below these exchanges.
    private func sent(
        to url: String = "http://host/graphql",
        with fields: [String: String] = [:],
        _ exchanges: any Exchange...
    ) async throws -> TransferRequest {
        let transport = ScriptedTransport { _ in #"{"data":{"a":1}}"# }
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        let network = NetworkClientDefault(dependencies: dependencies, transport: transport)
        var request = URLRequest(url: try #require(URL(string: url)))
        request.allHTTPHeaderFields = fields
        let client = Client(
            request: request,
            exchanges: exchanges + [FetchExchange(client: network)],
            logger: OffLogger()
        )
        #expect(try await client.query(ExecutionArgs(query: "{ a }")).data == ["a": 1])
        return try #require(transport.requests.withLock { $0.first })
    }

    @Test(arguments: urls) func tokenIsSentToTheRequestedOrigin(url: String) async throws {
        let name = try #require(HTTPField.Name("X-Token"))
        let sent = try await sent(to: url, auth(), InterceptorExchange(TransformInterceptor { _ in }))
        #expect(sent.head.headerFields[name] == "old")
        // A redirect to another origin therefore removes it.
        #expect(sent.originScopedFields.contains(name))
    }

    @Test(arguments: ["Authorization", "X-Token", "x-token"], [true, false])
    func tokenIsRemovedIfAnInterceptorChangesTheOrigin(name: String, isBehind: Bool) async throws {
        let field = try #require(HTTPField.Name(name))
        let moving = moving(field, isBehind: isBehind)
        let sent = try await sent(auth(name == "x-token" ? "X-Token" : name), moving)
        #expect(sent.head.authority == "elsewhere")
        #expect(sent.head.headerFields[values: field] == ["new"])
        #expect(sent.originScopedFields.contains(field))
    }

    @Test(arguments: ["http://host/graphql", "/graphql"])
    func tokenIsRemovedIfAnExchangeChangesTheOrigin(url: String) async throws {
        let name = try #require(HTTPField.Name("X-Token"))
        #expect(try await sent(to: url, auth(), MovingExchange()).head.headerFields[name] == nil)
        #expect(try await sent(to: url, MovingExchange(), auth()).head.headerFields[name] == "old")
    }

    @Test func secretsOfTheClientRequestAreRemovedIfTheOriginChanges() async throws {
        let fields = ["Authorization": "mine", "X-Colour": "red"]
        let colour = try #require(HTTPField.Name("X-Colour"))
        let kept = try await sent(with: fields)
        #expect(kept.head.headerFields[.authorization] == "mine")
        let moved = try await sent(with: fields, MovingExchange())
        #expect(moved.head.authority == "elsewhere")
        #expect(moved.head.headerFields[.authorization] == nil)
        #expect(moved.head.headerFields[colour] == "red")
    }

    @Test func reexecutedOperationContainsNoSecretsForAnotherOrigin() async throws {
        let transport = ScriptedTransport { _ in #"{"data":{"a":1}}"# }
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        let network = NetworkClientDefault(dependencies: dependencies, transport: transport)
        var request = URLRequest(url: try #require(URL(string: "http://host/graphql")))
        request.setValue("mine", forHTTPHeaderField: "Authorization")
        let fetch = FetchExchange(client: network)
        let client = Client(request: request, exchanges: [MovingExchange(), fetch], logger: OffLogger())
        let args = ExecutionArgs(query: "{ a }")
        let first = ResultCollector(client.query(args))
        while first.texts.isEmpty { await Task.yield() }
        #expect(try await client.query(args, policy: .networkOnly).data == ["a": 1])
        let fields = transport.requests.withLock { $0.map(\.head.headerFields[.authorization]) }
        #expect(fields == [nil, nil])
        first.leave()
    }

    /// An exchange with a token decides itself which origins receive it, declared or not, as below `FetchExchange`.
    @Test func hostedExchangeSendsItsTokenToUndeclaredOrigins() async throws {
        let transport = ScriptedTransport { _ in #"{"data":{"a":1}}"# }
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        dependencies.httpRequestBuilder.baseURL = URL(string: "https://declared")
        dependencies.interceptors.add(ExchangeInterceptor([auth()], logger: OffLogger()))
        let network = NetworkClientDefault(dependencies: dependencies, transport: transport)
        _ = try await network.response(
            to: GraphQLRequest(query: "{ a }"),
            at: GraphQLEndpoint("http://host/graphql")
        )
        let name = try #require(HTTPField.Name("X-Token"))
        let sent = try #require(transport.requests.withLock { $0.first })
        #expect(sent.head.headerFields[name] == "old")
        #expect(sent.originScopedFields.contains(name))
    }
}
