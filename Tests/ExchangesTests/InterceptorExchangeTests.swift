import BeagleNetExchanges
import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

import struct BeagleNetExchanges.Operation

@Suite(.timeLimit(.minutes(5))) struct InterceptorExchangeTests {
    /// Adds a field, retries after a failure, and records the errors.
    private struct RetryingInterceptor: Interceptor {
        let answers = Lock<[String]>([])

        nonisolated(nonsending) func intercept(
            _ operation: NetworkOperation,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            var operation = operation
            operation.transfer.head.headerFields[.authorization] = "Bearer token"
            do throws(NetworkError) {
                return try await next(operation, emit)
            } catch {
                answers.withLock { $0.append(error.message) }
                return try await next(operation, emit)
            }
        }
    }

    private func client(_ exchanges: any Exchange...) throws -> Client {
        let url = try #require(URL(string: "http://host/graphql"))
        return Client(request: URLRequest(url: url), exchanges: exchanges, logger: OffLogger())
    }

    private let args = ExecutionArgs(query: "{ a }")

    @Test func interceptorChangesTheRequest() async throws {
        let server = ServerExchange { [$0.result(["a": 1])] }
        let result = try await client(InterceptorExchange(RetryingInterceptor()), server).query(args)
        #expect(result.data == ["a": 1])
        #expect(server.requested.first?.request.value(forHTTPHeaderField: "Authorization") == "Bearer token")
        #expect(server.requested.first?.request.url?.absoluteString == "http://host/graphql")
        #expect(server.requested.first?.args == args)
    }

    @Test func interceptorRetries() async throws {
        let count = Lock(0)
        let server = ServerExchange { operation in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            let error = NetworkError(.network, during: .body, "lost")
            return [isFirst ? operation.result(nil, error: CombinedError(error)) : operation.result(["a": 1])]
        }
        let retrying = RetryingInterceptor()
        let result = try await client(InterceptorExchange(retrying), server).query(args)
        #expect(result.data == ["a": 1])
        #expect(retrying.answers.withLock { $0 } == ["lost"])
        #expect(server.requested.count == 2)
    }

    @Test func graphQLErrorsArePartOfTheResult() async throws {
        let server = ServerExchange { [$0.result(["a": nil], error: .graphql([GraphQLError("no")]))] }
        let retrying = RetryingInterceptor()
        let result = try await client(InterceptorExchange(retrying), server).query(args)
        #expect(result.data == ["a": nil])
        #expect(result.error == .graphql([GraphQLError("no")]))
        #expect(retrying.answers.withLock { $0.isEmpty })
    }

    @Test func cancellingTheSubscriberTearsDownTheOperationBelow() async throws {
        let server = ServerExchange()
        let client = try self.client(InterceptorExchange(RetryingInterceptor()), server)
        let listening = ResultCollector(client.query(args))
        while server.requested.isEmpty { await Task.yield() }
        listening.leave()
        #expect(server.kinds == [.query, .teardown])
        #expect(listening.results.isEmpty)
    }

    /// Continues when the test says so, cancelled or not.
    private struct Waiting: Interceptor {
        let held = Lock<AsyncStream<Void>.Continuation?>(nil)
        let isOver = Lock(false)

        nonisolated(nonsending) func intercept(
            _ operation: NetworkOperation,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            let (stream, end) = AsyncStream<Void>.makeStream()
            held.withLock { $0 = end }
            // An unstructured task is not cancelled with this one.
            await Task { for await _ in stream {} }.value
            defer { isOver.withLock { $0 = true } }
            return try await next(operation, emit)
        }
    }

    @Test func cancelledOperationIsNotForwardedAfterItsTeardown() async throws {
        let waiting = Waiting()
        let server = ServerExchange()
        let listening = ResultCollector(try client(InterceptorExchange(waiting), server).query(args))
        while waiting.held.withLock({ $0 == nil }) { await Task.yield() }
        listening.leave()
        waiting.held.withLock { $0 }?.finish()
        while !waiting.isOver.withLock({ $0 }) { await Task.yield() }
        #expect(server.kinds == [.teardown])
    }

    @Test func staleResultsPassThrough() async throws {
        let server = ServerExchange { [$0.result(["a": 1], stale: true), $0.result(["a": 2])] }
        let listening = ResultCollector(try client(InterceptorExchange(RetryingInterceptor()), server).query(args))
        while listening.results.count < 2 { await Task.yield() }
        #expect(listening.results.map(\.data) == [["a": 1], ["a": 2]])
        #expect(listening.results.map(\.stale) == [true, false])
    }

    /// Records the properties that an interceptor with credentials depends on.
    private struct CredentialRecorder: Interceptor {
        let origins = Lock<[Set<Origin>]>([])
        let scoped = Lock<[Set<HTTPField.Name>]>([])

        nonisolated(nonsending) func intercept(
            _ operation: NetworkOperation,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            origins.withLock { $0.append(operation.declaredOrigins) }
            scoped.withLock { $0.append(operation.transfer.originScopedFields) }
            var operation = operation
            operation.transfer.originScopedFields.insert(.authorization)
            return try await next(operation, emit)
        }
    }

    @Test func onlyTheOriginOfTheClientIsDeclared() async throws {
        let noting = CredentialRecorder()
        let client = try self.client(InterceptorExchange(noting), ServerExchange { [$0.result(["a": 1])] })
        let elsewhere = URLRequest(url: try #require(URL(string: "http://elsewhere/graphql")))
        _ = try await client.query(args, request: elsewhere)
        #expect(noting.origins.withLock { $0 } == [[Origin(scheme: "http", host: "host")]])
    }

    @Test func scopedFieldsReachTheNextInterceptor() async throws {
        let (one, other) = (CredentialRecorder(), CredentialRecorder())
        let server = ServerExchange { [$0.result(["a": 1])] }
        _ = try await client(InterceptorExchange(one), InterceptorExchange(other), server).query(args)
        #expect(other.scoped.withLock { $0.first?.contains(.authorization) } == true)
    }

    /// Adds a field that is scoped to the requested origin.
    private let giving = TransformInterceptor { message in
        message.head.headerFields[.authorization] = "Bearer token"
        message.originScopedFields.insert(.authorization)
    }

    private func network(_ transport: ScriptedTransport, _ interceptors: any Interceptor...) -> NetworkClientDefault {
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        for interceptor in interceptors { dependencies.interceptors.add(interceptor) }
        return NetworkClientDefault(dependencies: dependencies, transport: transport)
    }

    /// A redirect to another origin therefore removes them.
    @Test func scopedFieldsReachTheTransport() async throws {
        let transport = ScriptedTransport { _ in #"{"data":{"a":1}}"# }
        let fetch = FetchExchange(client: network(transport))
        #expect(try await client(InterceptorExchange(giving), fetch).query(args).data == ["a": 1])
        let sent = try #require(transport.requests.withLock { $0.first })
        #expect(sent.head.headerFields[.authorization] == "Bearer token")
        #expect(sent.originScopedFields.contains(.authorization))
    }

    @Test func scopedFieldsAreRemovedIfAnExchangeChangesTheOrigin() async throws {
        let transport = ScriptedTransport { _ in #"{"data":{"a":1}}"# }
        let fetch = FetchExchange(client: network(transport))
        #expect(try await client(InterceptorExchange(giving), MovingExchange(), fetch).query(args).data == ["a": 1])
        let sent = try #require(transport.requests.withLock { $0.first })
        #expect(sent.head.authority == "elsewhere")
        #expect(sent.head.headerFields[.authorization] == nil)
        // The same applies with another interceptor in between.
        let noting = InterceptorExchange(CredentialRecorder())
        #expect(
            try await client(InterceptorExchange(giving), MovingExchange(), noting, fetch).query(args).data == ["a": 1]
        )
        #expect(transport.requests.withLock { $0.last }?.head.headerFields[.authorization] == nil)
    }

    /// The same for hosted exchanges, if an interceptor above them has added the field.
    @Test func scopedFieldsAreRemovedIfAHostedExchangeChangesTheOrigin() async throws {
        let transport = ScriptedTransport { _ in #"{"data":{"a":1}}"# }
        let request = GraphQLRequest(query: "{ a }")
        let endpoint = GraphQLEndpoint("http://host/graphql", headers: ["X-Own": "own"])
        for exchanges: [any Exchange] in [[], [MovingExchange()]] {
            let hosting = network(transport, giving, ExchangeInterceptor(exchanges, logger: OffLogger()))
            _ = try await hosting.response(to: request, at: endpoint)
        }
        let sent = transport.requests.withLock { $0 }.map(\.head)
        #expect(sent.map(\.authority) == ["host", "elsewhere"])
        #expect(sent.map { $0.headerFields[.authorization] } == ["Bearer token", nil])
        #expect(sent.allSatisfy { head in head.headerFields.contains { $0.name.rawName == "X-Own" } })
    }

    /// A client that only records its operations.
    private struct RecordingClient: NetworkClient {
        let operations = Lock<[NetworkOperation]>([])

        func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? { nil }

        nonisolated(nonsending) func run(
            _ operation: NetworkOperation,
            emit: @escaping @Sendable (NetworkOperation.Result) -> Void
        ) async throws(NetworkError) -> NetworkOperation.Result {
            operations.withLock { $0.append(operation) }
            return .init(NetworkResponse(text: ""))
        }
    }

    /// A WebSocket to another origin therefore doesn't send them.
    @Test func scopedFieldsReachTheWebSocketClient() async throws {
        let network = RecordingClient()
        let client = try self.client(InterceptorExchange(giving), WebSocketExchange(client: network))
        let listening = ResultCollector(client.subscribe(to: ExecutionArgs(query: "subscription { a }")))
        while network.operations.withLock({ $0.isEmpty }) { await Task.yield() }
        let operation = try #require(network.operations.withLock { $0.first })
        #expect(operation.transfer.originScopedFields == [.authorization])
        guard case .rawRequest(let data) = operation.request.type else {
            Issue.record("the request is not a raw request")
            return
        }
        #expect(data.headers?["Authorization"] == "Bearer token")
        listening.leave()
    }

    @Test func otherKindsBypassTheInterceptor() async throws {
        let server = ServerExchange { [$0.result(["a": 1])] }
        let exchange = InterceptorExchange(RetryingInterceptor(), kinds: [.mutation])
        _ = try await client(exchange, server).query(args)
        #expect(server.requested.first?.request.value(forHTTPHeaderField: "Authorization") == nil)
    }

    /// A RetryInterceptor directly above the server.
    @Test func retryInterceptorWorksAsAnExchange() async throws {
        let count = Lock(0)
        let server = ServerExchange { operation in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let error = NetworkError(.connect, during: .connect, "no connection")
            return [number < 3 ? operation.result(nil, error: CombinedError(error)) : operation.result(["a": 1])]
        }
        let retry = RetryInterceptor(backoff: Backoff(base: .microseconds(1), limit: 5))
        let result = try await client(InterceptorExchange(retry), server).query(args)
        #expect(result.data == ["a": 1])
        #expect(server.requested.count == 3)
    }

    @Test func authInterceptorWorksAsAnExchange() async throws {
        let server = ServerExchange { operation in
            let token = operation.request.value(forHTTPHeaderField: "Authorization")
            if token == "two" { return [operation.result(["a": 1])] }
            var refusal = NetworkError(.status, during: .response, "not you")
            refusal.response = HTTPResponse(status: .unauthorized)
            return [operation.result(nil, error: CombinedError(refusal))]
        }
        let rules = AuthInterceptor<String>.Rules(
            load: { "one" },
            renew: { _ in "two" },
            attach: { token, head in head.headerFields[.authorization] = token }
        )
        let result = try await client(InterceptorExchange(AuthInterceptor(rules)), server).query(args)
        #expect(result.data == ["a": 1])
        #expect(server.requested.map { $0.request.value(forHTTPHeaderField: "Authorization") } == ["one", "two"])
    }

    @Test func deadlineInterceptorWorksAsAnExchange() async throws {
        let deadline = InterceptorExchange(DeadlineInterceptor(limit: .milliseconds(10)))
        let result = try await client(deadline, ServerExchange()).query(args)
        #expect(result.error?.networkError?.isTimeout == true)
    }

    @Test func interceptorUsesTheGivenClock() async throws {
        let clock = ManualClock()
        let deadline = InterceptorExchange(DeadlineInterceptor(limit: .seconds(600)), clock: clock)
        let listening = ResultCollector(try client(deadline, ServerExchange()).query(args))
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(600))
        while listening.results.isEmpty { await Task.yield() }
        #expect(listening.results.first?.error?.networkError?.isTimeout == true)
    }

    /// Records whether a header field of the app is secret.
    private struct SecretFieldRecorder: Interceptor {
        let isSecret = Lock<Bool?>(nil)

        nonisolated(nonsending) func intercept(
            _ operation: NetworkOperation,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            isSecret.withLock { $0 = operation.redactor.isSecret(header: "X-Pet") }
            return try await next(operation, emit)
        }
    }

    @Test(arguments: [true, false]) func interceptorUsesTheGivenRedactor(isSecret: Bool) async throws {
        let recorder = SecretFieldRecorder()
        let exchange = InterceptorExchange(recorder, redactor: Redactor(secrets: isSecret ? ["X-Pet"] : []))
        _ = try await client(exchange, ServerExchange { [$0.result(["a": 1])] }).query(args)
        #expect(recorder.isSecret.withLock { $0 } == isSecret)
    }

    @Test func rateLimitInterceptorWorksAsAnExchange() async throws {
        let server = ServerExchange { [$0.result(["a": 1])] }
        let client = try self.client(InterceptorExchange(RateLimitInterceptor(1, per: .milliseconds(50))), server)
        let start = ContinuousClock.now
        for _ in 0..<2 { #expect(try await client.query(args).data == ["a": 1]) }
        #expect(ContinuousClock.now - start >= .milliseconds(40))
        #expect(server.requested.count == 2)
    }
}
