import BeagleNetExchanges
import BeagleNetHTTP
import Foundation
import Synchronization
import Testing

import struct BeagleNetExchanges.Operation

/// A scripted transport.
final class ScriptedTransport: HTTPTransport {
    typealias Completion = @Sendable (Result<TransferResponse, NetworkError>) -> Void

    let requests = Lock<[TransferRequest]>([])
    let completions = Lock<[Completion]>([])
    private let answer: @Sendable (TransferRequest) -> String?

    /// - Parameter answer: Returns the body of the response, or `nil` to let the test complete the request.
    init(_ answer: @escaping @Sendable (TransferRequest) -> String?) {
        self.answer = answer
    }

    func perform(_ request: TransferRequest, completion: @escaping Completion) -> any RequestToken {
        let once = Lock<Completion?>(completion)
        let finish: Completion = { result in once.withLock { $0.take() }?(result) }
        requests.withLock { $0.append(request) }
        if let body = answer(request) {
            finish(.success(Self.response(body)))
        } else {
            completions.withLock { $0.append(finish) }
        }
        return AnyRequestToken { finish(.failure(NetworkError(.cancelled, during: .firstByte, "cancelled"))) }
    }

    static func response(_ body: String) -> TransferResponse {
        TransferResponse(
            head: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
            body: HTTPBody(body),
            url: "http://host/"
        )
    }
}

@Suite(.timeLimit(.minutes(5))) struct ExchangeInterceptorTests {
    private let endpoint = GraphQLEndpoint("http://host/graphql")
    private let query = GraphQLRequest(query: "query Q($id: ID) { a }", variables: Data(#"{"id":1}"#.utf8))
    private let mutation = GraphQLRequest(query: "mutation { a }", kind: .mutation)

    private func client(_ exchanges: [any Exchange], _ transport: ScriptedTransport) -> NetworkClientDefault {
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        dependencies.interceptors.add(ExchangeInterceptor(exchanges, logger: OffLogger()))
        return NetworkClientDefault(dependencies: dependencies, transport: transport)
    }

    private func data(_ client: NetworkClientDefault, _ request: GraphQLRequest) async throws -> JSONValue? {
        try await client.response(to: request, at: endpoint).json()["data"]
    }

    /// Records operations and results, and optionally changes them.
    private struct ObservingExchange: Exchange, Sendable {
        var log = Lock<[String]>([])
        var down: @Sendable (inout Operation) -> Void = { _ in }
        var up: @Sendable (inout OperationResult) -> Void = { _ in }

        func register(
            client: any GraphQLClient,
            operations: AnyPublisher<Operation, Never>,
            next: @escaping ExchangeIO
        ) -> AnyPublisher<OperationResult, Never> {
            let downstream = operations.map { operation in
                var operation = operation
                self.down(&operation)
                log.withLock { $0.append("\(operation.kind)") }
                return operation
            }
            return next(downstream.eraseToAnyPublisher()).map { result in
                var result = result
                self.up(&result)
                log.withLock { $0.append("=>") }
                return result
            }
            .eraseToAnyPublisher()
        }
    }

    @Test func operationPassesThroughTheExchanges() async throws {
        let passing = ObservingExchange()
        let transport = ScriptedTransport { _ in #"{"data":{"a":1}}"# }
        let client = client([passing, DedupExchange()], transport)
        #expect(try await data(client, query) == ["a": 1])
        #expect(try await data(client, mutation) == ["a": 1])
        #expect(passing.log.withLock { $0 } == ["query", "=>", "teardown", "mutation", "=>", "teardown"])
        #expect(transport.requests.withLock { $0.count } == 2)
    }

    @Test func exchangeCanChangeTheOperation() async throws {
        let seen = Lock<[String]>([])
        let passing = ObservingExchange(down: { operation in
            guard operation.kind != .teardown else { return }
            seen.withLock { seen in
                seen.append(operation.request.url?.absoluteString ?? "")
                seen.append(operation.args.query)
                seen.append("\(operation.args.variables ?? [:])")
            }
            operation.request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
            operation.args.extensions = ["trace": true]
        })
        let transport = ScriptedTransport { _ in #"{"data":{"a":1}}"# }
        _ = try await data(client([passing], transport), query)
        #expect(
            seen.withLock { $0 } == [
                "http://host/graphql", "query Q($id: ID) { a }", "\(["id": AnyCodable.integer(1)])",
            ]
        )
        let request = try #require(transport.requests.withLock { $0.first })
        let body = try JSONValue(parsing: #require(request.body?.data))
        #expect(body["extensions"] == ["trace": true])
        #expect(body["variables"] == ["id": 1])
        #expect(body["query"]?.string == query.query)
        #expect(request.head.headerFields[.contentType] == "application/json")
    }

    @Test func exchangeCanChangeTheResult() async throws {
        let passing = ObservingExchange(up: { $0.data = ["a": 2] })
        let client = client([passing], ScriptedTransport { _ in #"{"data":{"a":1},"extensions":{"x":1}}"# })
        let answer = try await client.response(to: query, at: endpoint).json()
        #expect(answer == ["data": ["a": 2], "extensions": ["x": 1]])
    }

    @Test func exchangeReceivesGraphQLErrors() async throws {
        let reported = Lock<[CombinedError]>([])
        let errors = ErrorExchange { error, _ in reported.withLock { $0.append(error) } }
        let client = client([errors], ScriptedTransport { _ in #"{"data":null,"errors":[{"message":"no"}]}"# })
        let answer = try await client.response(to: query, at: endpoint).json()
        #expect(answer["errors"] == [["message": "no"]])
        guard case .graphql(let errors)? = reported.withLock({ $0.first }) else {
            Issue.record("no GraphQL error was reported")
            return
        }
        #expect(errors.map(\.message) == ["no"])
    }

    @Test func networkErrorIsPassedOnUnchanged() async throws {
        let reports = Lock(0)
        let errors = ErrorExchange { _, _ in reports.withLock { $0 += 1 } }
        let transport = ScriptedTransport { _ in nil }
        let client = client([errors], transport)
        let task = Task { try await data(client, mutation) }
        while transport.completions.withLock({ $0.isEmpty }) { await Task.yield() }
        transport.completions.withLock { $0.first }?(.failure(NetworkError(.protocol, during: .body, "no HTTP")))
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.kind == .protocol)
        #expect(error?.message == "no HTTP")
        #expect(reports.withLock { $0 } == 1)
    }

    @Test func exchangeCanReturnItsOwnResult() async throws {
        let transport = ScriptedTransport { _ in #"{"data":{"a":1}}"# }
        let server = ServerExchange { [$0.result(["a": "mine"])] }
        #expect(try await data(client([server], transport), query) == ["a": "mine"])
        #expect(transport.requests.withLock { $0.isEmpty })
    }

    @Test func cacheExchangeServesTheSecondQuery() async throws {
        let transport = ScriptedTransport { _ in #"{"data":{"a":1}}"# }
        let client = client([DedupExchange(), CacheExchange()], transport)
        #expect(try await data(client, query) == ["a": 1])
        #expect(try await data(client, query) == ["a": 1])
        #expect(transport.requests.withLock { $0.count } == 1)
        let result = try await client.run(client.networkOperation(query, endpoint))
        #expect(result.source == .cache)
        var again = try client.networkOperation(query, endpoint)
        again.policy = .networkOnly
        #expect(try await client.run(again).source == .network)
    }

    @Test func staleResultIsEmittedBeforeTheFinalResult() async throws {
        let transport = ScriptedTransport { _ in #"{"data":{"a":1}}"# }
        let client = client([CacheExchange()], transport)
        _ = try await data(client, query)
        var operation = try client.networkOperation(query, endpoint)
        operation.policy = .cacheAndNetwork
        let emitted = Lock<[NetworkOperation.Result]>([])
        let last = try await client.run(operation) { result in emitted.withLock { $0.append(result) } }
        #expect(emitted.withLock { $0.map(\.isStale) } == [true])
        #expect(!last.isStale)
        #expect(last.source == .network)
    }

    @Test func cancellingSendsATeardownAndCancelsTheTransport() async throws {
        let passing = ObservingExchange()
        let transport = ScriptedTransport { _ in nil }
        let client = client([passing, DedupExchange()], transport)
        let task = Task { try await data(client, mutation) }
        while transport.completions.withLock({ $0.isEmpty }) { await Task.yield() }
        task.cancel()
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.isCancelled == true)
        #expect(passing.log.withLock { $0 } == ["mutation", "teardown"])
    }

    /// An operation that an exchange reexecutes waits for the second result.
    @Test func exchangeCanReexecuteAnOperation() async throws {
        struct ReexecutingExchange: Exchange {
            func register(
                client: any GraphQLClient,
                operations: AnyPublisher<Operation, Never>,
                next: @escaping ExchangeIO
            ) -> AnyPublisher<OperationResult, Never> {
                next(operations).map { result in
                    guard result.operation.policy != .networkOnly else { return result }
                    var result = result
                    result.stale = true
                    client.reexecute(operation: result.operation.with(policy: .networkOnly))
                    return result
                }
                .eraseToAnyPublisher()
            }
        }
        let count = Lock(0)
        let transport = ScriptedTransport { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return #"{"data":{"a":\#(number)}}"#
        }
        let client = client([ReexecutingExchange()], transport)
        let emitted = Lock<[JSONValue?]>([])
        let last = try await client.run(client.networkOperation(query, endpoint)) { result in
            do {
                let data = try result.response?.json()["data"]
                emitted.withLock { $0.append(data) }
            } catch {
                Issue.record(error)
            }
        }
        #expect(emitted.withLock { $0 } == [["a": 1]])
        #expect(try last.response?.json()["data"] == ["a": 2])
    }

    /// An exchange may request credentials this way.
    @Test func exchangeCanRunItsOwnOperation() async throws {
        let refreshed = Lock<[AnyCodable]>([])
        final class Refreshing: Exchange, Sendable {
            let refreshed: Lock<[AnyCodable]>
            // Accessed only on the serial executor of the exchanges.
            nonisolated(unsafe) var kept: AnyCancellable?

            init(_ refreshed: Lock<[AnyCodable]>) { self.refreshed = refreshed }

            func register(
                client: any GraphQLClient,
                operations: AnyPublisher<Operation, Never>,
                next: @escaping ExchangeIO
            ) -> AnyPublisher<OperationResult, Never> {
                next(operations)
                    .handleEvents(receiveOutput: { [self] result in
                        guard result.operation.kind == .query else { return }
                        let refresh = Operation(
                            id: "refresh",
                            kind: .mutation,
                            request: result.operation.request,
                            args: ExecutionArgs(query: "mutation { refresh }")
                        )
                        kept = client.execute(operation: refresh).sink { [refreshed] answer in
                            refreshed.withLock { $0.append(answer.data) }
                        }
                    })
                    .eraseToAnyPublisher()
            }
        }
        let transport = ScriptedTransport { request in
            let body = request.body?.data.map { String(decoding: $0, as: UTF8.self) } ?? ""
            return body.contains("refresh") ? #"{"data":{"refresh":true}}"# : #"{"data":{"a":1}}"#
        }
        _ = try await data(client([Refreshing(refreshed)], transport), query)
        while refreshed.withLock({ $0.isEmpty }) { await Task.yield() }
        #expect(refreshed.withLock { $0 } == [["refresh": true]])
    }

    /// Requests a new token when a mutation passes.
    private final class TokenRequestingExchange: Exchange, Sendable {
        let isCopy: Bool
        /// The URL for the token request, or `nil` for that of the mutation.
        let url: URL?
        private let listening = Lock<ResultCollector?>(nil)

        init(isCopy: Bool, at url: URL? = nil) {
            self.isCopy = isCopy
            self.url = url
        }

        func register(
            client: any GraphQLClient,
            operations: AnyPublisher<Operation, Never>,
            next: @escaping ExchangeIO
        ) -> AnyPublisher<OperationResult, Never> {
            let running = operations.handleEvents(receiveOutput: { [self] operation in
                guard operation.kind == .mutation, operation.id != "renew" else { return }
                let args = ExecutionArgs(query: "mutation { renew }")
                var renewal = Operation(id: "renew", kind: .mutation, request: operation.request, args: args)
                if isCopy {
                    renewal = operation
                    (renewal.id, renewal.args) = ("renew", args)
                }
                if let url { renewal.request.url = url }
                let renewing = ResultCollector(client.execute(operation: renewal))
                listening.withLock { $0 = renewing }
            })
            return next(running.eraseToAnyPublisher())
        }
    }

    @Test("fields of an interceptor are removed if an exchange sends a copy elsewhere", arguments: [true, false])
    func copySentToAnotherOriginContainsNoSecrets(isElsewhere: Bool) async throws {
        let transport = ScriptedTransport { _ in nil }
        let renewing = TokenRequestingExchange(
            isCopy: true,
            at: isElsewhere ? URL(string: "http://elsewhere/graphql") : nil
        )
        let client = client([renewing], transport)
        client.container.interceptors.insert(
            TransformInterceptor { message in
                message.head.headerFields[.authorization] = "mine"
                message.head.headerFields[.acceptLanguage] = "pt"
                message.originScopedFields.insert(.acceptLanguage)
            },
            at: 0
        )
        let request = try endpoint.makeRequest(mutation, in: client.container)
        let task = Task { try await client.run(NetworkOperation(request, kind: .mutation)) }
        while transport.requests.withLock({ $0.count }) < 2 { await Task.yield() }
        let renewal = transport.requests.withLock { requests in
            requests.first { String(decoding: $0.body?.data ?? Data(), as: UTF8.self).contains("renew") }
        }
        let sent = try #require(renewal)
        #expect(sent.head.authority == (isElsewhere ? "elsewhere" : "host"))
        #expect(sent.head.headerFields[.authorization] == (isElsewhere ? nil : "mine"))
        #expect(sent.head.headerFields[.acceptLanguage] == (isElsewhere ? nil : "pt"))
        #expect(sent.originScopedFields.contains(.acceptLanguage) == !isElsewhere)
        task.cancel()
        _ = await task.result
    }

    @Test(arguments: [true, false])
    func copiedOperationKeepsItsCredentialsAndANewOneHasNone(isCopy: Bool) async throws {
        let transport = ScriptedTransport { _ in nil }
        let client = client([TokenRequestingExchange(isCopy: isCopy)], transport)
        var tasks: [Task<NetworkOperation.Result, any Error>] = []
        for (name, kind) in [("Ann", NetworkOperation.Kind.query), ("Bob", .mutation)] {
            let request = try endpoint.makeRequest(kind == .query ? query : mutation, in: client.container)
            var operation = NetworkOperation(request, kind: kind)
            operation.request.options = TransferOptions()
            operation.request.options?.authentication = .bearer(name)
            tasks.append(Task { [operation] in try await client.run(operation) })
            while transport.requests.withLock({ $0.isEmpty }) { await Task.yield() }
        }
        while transport.requests.withLock({ $0.count }) < 3 { await Task.yield() }
        let renewal = transport.requests.withLock { requests in
            requests.first { String(decoding: $0.body?.data ?? Data(), as: UTF8.self).contains("renew") }
        }
        let options = try #require(renewal).options
        #expect(options.authentication == (isCopy ? Authentication.bearer("Bob") : nil))
        for task in tasks {
            task.cancel()
            _ = await task.result
        }
    }

    /// The late result of a cancelled operation must not reach the next identical operation.
    @Test func lateResultOfACancelledOperationDoesNotReachTheNext() async throws {
        let late = HoldingInterceptor()
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        dependencies.interceptors.add(ExchangeInterceptor([ObservingExchange()], logger: OffLogger()))
        dependencies.interceptors.add(late)
        let transport = ScriptedTransport { _ in #"{"data":{"a":2}}"# }
        let client = NetworkClientDefault(dependencies: dependencies, transport: transport)
        let left = Task { try await data(client, query) }
        while late.held.withLock({ $0.isEmpty }) { await Task.yield() }
        left.cancel()
        await #expect(throws: NetworkError.self) { try await left.value }
        let next = Task { try await data(client, query) }
        while late.held.withLock({ $0.count }) < 2 { await Task.yield() }
        let held = late.held.withLock { $0 }
        held[0].finish()
        while late.gone.withLock({ $0 }) < 1 { await Task.yield() }
        held[1].finish()
        #expect(try await next.value == ["a": 2])
    }

    /// Holds operations until the test releases them, cancelled or not. The first one then fails.
    private struct HoldingInterceptor: Interceptor {
        let held = Lock<[AsyncStream<Void>.Continuation]>([])
        let gone = Lock(0)

        nonisolated(nonsending) func intercept(
            _ operation: NetworkOperation,
            next: Next,
            emit: @escaping Emit
        ) async throws(NetworkError) -> NetworkOperation.Result {
            let (stream, end) = AsyncStream<Void>.makeStream()
            let isFirst = held.withLock { held in
                held.append(end)
                return held.count == 1
            }
            // An unstructured task is not cancelled with this one.
            await Task { for await _ in stream {} }.value
            guard isFirst else { return try await next(operation, emit) }
            emit(.init(NetworkResponse(text: #"{"data":{"a":1}}"#)))
            gone.withLock { $0 += 1 }
            throw NetworkError(.network, during: .body, "late")
        }
    }

    /// Otherwise the store would treat each operation as active and never forget it.
    @Test func storeForgetsEvictedOperations() async throws {
        let cache = CacheExchange(limit: 1)
        let reexecuted = Lock<[Operation]>([])
        let noting = CallRecordingClient { operation in reexecuted.withLock { $0.append(operation) } }
        let client = client([cache], ScriptedTransport { _ in #"{"data":{"a":{"__typename":"A"}}}"# })
        for id in 0..<5 {
            let request = GraphQLRequest(query: query.query, variables: Data(#"{"id":\#(id)}"#.utf8))
            _ = try await data(client, request)
        }
        #expect(cache.count == 1)
        // The store is shared with another chain of exchanges, which reveals the operations it considers active.
        let fixture = ExchangeFixture(cache, noting)
        fixture.below.send(Operation.mutation("m", types: ["A"]).result("done"))
        #expect(reexecuted.withLock { $0.count } == 1)
    }

    /// A cache-only read neither waits for the network query nor completes it, even through an interceptor.
    @Test(arguments: [false, true])
    func cacheOnlyIsIndependentOfANetworkQuery(pastAnInterceptor: Bool) async throws {
        let transport = ScriptedTransport { _ in nil }
        let between: [any Exchange] = pastAnInterceptor ? [InterceptorExchange(RetryInterceptor())] : []
        let client = client([DedupExchange()] + between + [CacheExchange()], transport)
        let running = Task { try await data(client, query) }
        while transport.completions.withLock({ $0.isEmpty }) { await Task.yield() }
        var reading = try client.networkOperation(query, endpoint)
        reading.policy = .cacheOnly
        let read = try await client.run(reading)
        #expect(try read.response?.json()["data"] == .null)
        transport.completions.withLock { $0.first }?(.success(ScriptedTransport.response(#"{"data":{"a":1}}"#)))
        #expect(try await running.value == ["a": 1])
        #expect(transport.requests.withLock { $0.count } == 1)
    }

    @Test func credentialsAreRemovedIfTheHostChanges() async throws {
        let transport = ScriptedTransport { _ in #"{"data":{"a":1}}"# }
        var operation = try client([], transport).networkOperation(query, endpoint)
        operation.request.options = TransferOptions()
        operation.request.options?.authentication = .bearer("mine")
        operation.request.additionalData = HttpAdditionalData(headers: ["Cookie": "mine", "X-Colour": "red"])
        for host in ["host", "elsewhere"] {
            let moved = client([MovingExchange(host: host)], transport)
            _ = try await moved.run(operation)
        }
        let requests = transport.requests.withLock { $0 }
        #expect(requests.map { $0.options.authentication == nil } == [false, true])
        #expect(requests.map { $0.head.headerFields[.cookie] } == ["mine", nil])
        #expect(requests.map { $0.head.headerFields.first { $0.name.rawName == "X-Colour" }?.value } == ["red", "red"])
    }

    /// Sends operations to another host.
    private struct MovingExchange: Exchange {
        let host: String

        func register(
            client: any GraphQLClient,
            operations: AnyPublisher<Operation, Never>,
            next: @escaping ExchangeIO
        ) -> AnyPublisher<OperationResult, Never> {
            next(
                operations.map { operation in
                    var operation = operation
                    operation.request.url = URL(string: "http://\(host)/graphql")
                    return operation
                }
                .eraseToAnyPublisher()
            )
        }
    }

    @Test func otherKindsBypassTheExchangesUnlessConfigured() async throws {
        let passing = ObservingExchange()
        let transport = ScriptedTransport { _ in "{}" }
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        let url = try #require(URL(string: "http://host/screen"))
        _ = try await client([passing], transport).executeRequest(Request(url: url, type: .fetchComponent))
        #expect(passing.log.withLock { $0.isEmpty })
        dependencies.interceptors.add(ExchangeInterceptor([passing], kinds: [.component, .raw], logger: OffLogger()))
        let all = NetworkClientDefault(dependencies: dependencies, transport: transport)
        _ = try await all.executeRequest(Request(url: url, type: .fetchComponent))
        _ = try await all.executeRequest(Request(url: url, type: .rawRequest(.init())))
        #expect(passing.log.withLock { $0 } == ["query", "=>", "teardown", "mutation", "=>", "teardown"])
    }

    @Test func nonGraphQLMessageIsUnchanged() async throws {
        let transport = ScriptedTransport { _ in "{}" }
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        let extensions = ExtensionsExchange { _ in ["trace": true] }
        dependencies.interceptors.add(ExchangeInterceptor([extensions], kinds: [.component], logger: OffLogger()))
        let client = NetworkClientDefault(dependencies: dependencies, transport: transport)
        let url = try #require(URL(string: "http://host/screen"))
        _ = try await client.executeRequest(Request(url: url, type: .fetchComponent))
        let request = try #require(transport.requests.withLock { $0.first })
        #expect(request.head.method == .get)
        #expect(request.body == nil)
    }

    /// A cache exchange retains operations, which must not retain the pipeline around the exchanges.
    @Test func exchangesDoNotRetainThePipeline() async throws {
        weak var gone: CacheExchange?
        weak var emitted: Lock<Int>?
        do {
            let cache = CacheExchange()
            gone = cache
            let client = client([cache], ScriptedTransport { _ in #"{"data":{"a":1}}"# })
            let count = Lock(0)
            emitted = count
            _ = try await client.run(client.networkOperation(query, endpoint)) { _ in count.withLock { $0 += 1 } }
            #expect(cache.count == 1)
        }
        #expect(gone == nil)
        #expect(emitted == nil)
    }

    @Test func eightThreadsGetAllResults() async throws {
        let transport = ScriptedTransport { request in
            let body = request.body?.data.map { String(decoding: $0, as: UTF8.self) } ?? ""
            let number = body.split(separator: #""id":"#).last?.prefix { $0.isNumber } ?? ""
            return #"{"data":{"a":\#(number)}}"#
        }
        let client = client([LogExchange(), DedupExchange(), CacheExchange()], transport)
        let answered = Lock(0)
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    for number in 0..<50 {
                        let id = number % 2 == 0 ? number : thread * 50 + number
                        let variables = Data(#"{"id":\#(id)}"#.utf8)
                        let isMutation = number % 5 == 0
                        let request = GraphQLRequest(
                            query: isMutation ? mutation.query : query.query,
                            kind: isMutation ? .mutation : .query,
                            variables: variables
                        )
                        do {
                            let data = try await data(client, request)
                            if data == ["a": .integer(Int64(id))] { answered.withLock { $0 += 1 } }
                        } catch {
                            Issue.record(error)
                        }
                    }
                }
            }
        }
        #expect(answered.withLock { $0 } == 8 * 50)
    }
}

extension NetworkClient {
    /// Returns the operation of a request.
    fileprivate func networkOperation(
        _ request: GraphQLRequest,
        _ endpoint: GraphQLEndpoint
    ) throws(NetworkError) -> NetworkOperation {
        NetworkOperation(try endpoint.makeRequest(request, in: container), kind: .query)
    }
}
