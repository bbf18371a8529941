import BeagleNetExchanges
import Foundation
import GraphQLPeers
import Testing

import struct BeagleNetExchanges.Operation

/// Hosted exchanges with third-party servers: they change neither the messages that are sent nor the results.
@Suite(.timeLimit(.minutes(5)), .enabled(if: GraphQLServer.isAvailable, "\(GraphQLServer.advice)"))
struct HostedServersTests {
    private struct Post: Decodable, Sendable { let title: String }
    private struct Create: Encodable, Sendable { let title: String }
    private struct Sent: Decodable, Sendable, Equatable { let name: String; let size: Int }
    private struct Attachment: Encodable, Sendable { let file: GraphQLUpload }

    private let log = ExchangeEventLog()

    private func client(_ exchanges: [any Exchange]?) -> NetworkClientDefault {
        let dependencies = BeagleDependencies()
        dependencies.logger = OffLogger()
        if let exchanges { dependencies.interceptors.add(ExchangeInterceptor(exchanges, logger: OffLogger())) }
        return NetworkClientDefault(dependencies: dependencies)
    }

    /// Records operations and results without changing them.
    private struct RecordingExchange: Exchange {
        let log: ExchangeEventLog

        func register(
            client: any GraphQLClient,
            operations: AnyPublisher<Operation, Never>,
            next: @escaping ExchangeIO
        ) -> AnyPublisher<OperationResult, Never> {
            let log = log
            return next(operations.handleEvents(receiveOutput: { log.note("\($0.kind)") }).eraseToAnyPublisher())
                .handleEvents(receiveOutput: { log.note("=>\($0.data["count"]?.integer ?? 0)") })
                .eraseToAnyPublisher()
        }
    }

    private var exchanges: [any Exchange] {
        [RecordingExchange(log: log), LogExchange(), DedupExchange(), CacheExchange()]
    }

    private func endpoint(_ path: String, _ test: String = UUID().uuidString) async throws -> GraphQLEndpoint {
        GraphQLEndpoint(try await GraphQLServer.shared.url(path), headers: ["X-Test": test, "X-Own": "a, b"])
    }

    /// Returns the messages that reached the server, without the parts that always differ.
    private func messages(_ test: String) async throws -> [JSONValue] {
        let requests = try await GraphQLServer.shared.log(of: test)["requests"]?.array ?? []
        return requests.map { request in
            let headers = request["headers"]?.object ?? [:]
            let type = headers["content-type"]?.string ?? ""
            let boundary = type.contains("boundary=") ? type.components(separatedBy: "boundary=").last ?? "" : ""
            func plain(_ value: JSONValue?) -> JSONValue {
                guard !boundary.isEmpty, let text = value?.string else { return value ?? .null }
                return .string(text.replacingOccurrences(of: boundary, with: "boundary"))
            }
            return [
                "method": request["method"] ?? .null, "path": request["path"] ?? .null,
                "query": request["query"] ?? .null,
                "headers": .object(headers.filter { $0.key != "x-test" }.mapValues { plain($0) }),
                "body": plain(request["body"]),
            ]
        }
    }

    /// Performs a query in the body, one in the URL, a mutation and a file upload.
    private func perform(with client: NetworkClientDefault, at endpoint: GraphQLEndpoint) async throws {
        var endpoint = endpoint
        let query = GraphQLOperation<IDInput, Post>(
            input: IDInput(id: "1"),
            operationString: "query Post($id: ID!) { post(id: $id) { title } }"
        )
        #expect(try await client.perform(query, at: endpoint).title == "First")
        endpoint.queryMethod = .get
        #expect(try await client.perform(query, at: endpoint).title == "First")
        let create = GraphQLOperation<Create, Post>(
            input: Create(title: "Ünïcode"),
            operationString: "mutation Create($title: String!) { createPost(title: $title) { title } }"
        )
        #expect(try await client.perform(create, at: endpoint).title == "Ünïcode")
        let file = FormFile(Data("hello".utf8), filename: "a.txt", contentType: "text/plain")
        let upload = GraphQLOperation<Attachment, Sent>(
            input: Attachment(file: GraphQLUpload(file)),
            operationString: "mutation($file: Upload!) { upload(file: $file) { name size } }"
        )
        #expect(try await client.perform(upload, at: endpoint) == Sent(name: "a.txt", size: 5))
    }

    @Test(arguments: ["/graphql", "/strict", "/ariadne"])
    func hostedExchangesDoNotChangeMessages(path: String) async throws {
        let (plain, hosted) = (UUID().uuidString, UUID().uuidString)
        try await perform(with: client(nil), at: endpoint(path, plain))
        try await perform(with: client(exchanges), at: endpoint(path, hosted))
        let messages = try await messages(hosted)
        #expect(messages.map { $0["method"]?.string } == ["POST", "GET", "POST", "POST"])
        #expect(messages.allSatisfy { $0["headers"]?["x-own"]?.string == "a, b" })
        #expect(try await self.messages(plain) == messages)
        #expect(
            log.events.filter { !$0.hasPrefix("=>") } == [
                "query", "teardown", "query", "teardown", "mutation", "teardown", "mutation", "teardown",
            ]
        )
    }

    /// An interceptor that is hosted as an exchange, in exchanges that are hosted in a pipeline.
    @Test(arguments: ["/graphql", "/ariadne"])
    func hostedInterceptorAddsOnlyItsField(path: String) async throws {
        struct FieldInterceptor: Interceptor {
            nonisolated(nonsending) func intercept(
                _ operation: NetworkOperation,
                next: Next,
                emit: @escaping Emit
            ) async throws(NetworkError) -> NetworkOperation.Result {
                var operation = operation
                if let name = HTTPField.Name("X-Given") { operation.transfer.head.headerFields[name] = "given" }
                return try await next(operation, emit)
            }
        }
        let (plain, hosted) = (UUID().uuidString, UUID().uuidString)
        try await perform(with: client(nil), at: endpoint(path, plain))
        let inside: [any Exchange] = [DedupExchange(), InterceptorExchange(FieldInterceptor()), CacheExchange()]
        try await perform(with: client(inside), at: endpoint(path, hosted))
        let messages = try await messages(hosted)
        #expect(messages.allSatisfy { $0["headers"]?["x-given"]?.string == "given" })
        let without = messages.map { message in
            var message = message
            if var headers = message["headers"]?.object {
                headers["x-given"] = nil
                message = .object((message.object ?? [:]).merging(["headers": .object(headers)]) { $1 })
            }
            return message
        }
        #expect(try await self.messages(plain) == without)
    }

    enum Way: String, CaseIterable, CustomTestStringConvertible {
        case webSocket
        case events
        case multipart

        var testDescription: String { rawValue }
        var transport: GraphQLEndpoint.SubscriptionTransport {
            switch self {
            case .webSocket: .webSocket()
            case .events: .events()
            case .multipart: .multipart
            }
        }
    }

    @Test(arguments: Way.allCases) func subscriptionPassesThroughHostedExchanges(_ way: Way) async throws {
        var endpoint = try await endpoint("/graphql")
        endpoint.subscriptions = [way.transport]
        let request = GraphQLRequest(query: "subscription { count(to: 3) }", kind: .subscription)
        let client = client(exchanges)
        for _ in 0..<2 {
            var counts: [Int64?] = []
            for try await answer in try client.subscribe(to: request, at: endpoint) {
                counts.append(answer.data?["count"]?.integer)
            }
            #expect(counts == [1, 2, 3])
        }
        let events = log.events.filter { $0 != "=>0" }
        let once = ["subscription", "=>1", "=>2", "=>3", "teardown"]
        #expect(events == once + once)
    }

    @Test(arguments: Way.allCases) func extensionsAddedByAnExchangeReachTheServer(_ way: Way) async throws {
        let test = UUID().uuidString
        var endpoint = try await endpoint("/graphql", test)
        endpoint.subscriptions = [way.transport]
        let request = GraphQLRequest(query: "subscription { count(to: 1) }", kind: .subscription)
        let client = client([ExtensionsExchange { _ in ["trace": "told"] }])
        for try await _ in try client.subscribe(to: request, at: endpoint) {}
        let requests = try await GraphQLServer.shared.log(of: test)["requests"]?.array ?? []
        let values = requests.flatMap { request -> [JSONValue] in
            let messages = request["messages"]?.array ?? []
            return messages + [request["body"] ?? .null]
        }
        let texts = values.compactMap(\.string)
        #expect(texts.contains { $0.replacing(" ", with: "").contains(#""trace":"told""#) })
    }

    @Test(arguments: Way.allCases) func leavingTheLoopReachesTheServer(_ way: Way) async throws {
        let test = UUID().uuidString
        var endpoint = try await endpoint("/graphql", test)
        endpoint.subscriptions = [way.transport]
        let request = GraphQLRequest(query: "subscription { count(to: 100000) }", kind: .subscription)
        let client = client(exchanges)
        for try await _ in try client.subscribe(to: request, at: endpoint) { break }
        try await GraphQLServer.shared.event("count ended", of: test)
        #expect(log.events.last == "teardown")
    }

    @Test func eightThreadsGetAllResults() async throws {
        let client = client(exchanges)
        let endpoint = try await endpoint("/graphql")
        let answered = Lock(0)
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    for number in 0..<20 {
                        let title = "\(thread) \(number)"
                        let mutation = GraphQLOperation<Create, Post>(
                            input: Create(title: title),
                            operationString: "mutation C($title: String!) { createPost(title: $title) { title } }"
                        )
                        let query = GraphQLOperation<IDInput, Post>(
                            input: IDInput(id: "\(1 + number % 2)"),
                            operationString: "query Post($id: ID!) { post(id: $id) { title } }"
                        )
                        let expected = number % 4 == 0 ? title : number % 2 == 0 ? "First" : "Ünïcode 😀"
                        do {
                            let post =
                                number % 4 == 0
                                ? try await client.perform(mutation, at: endpoint)
                                : try await client.perform(query, at: endpoint)
                            if post.title == expected { answered.withLock { $0 += 1 } }
                        } catch {
                            Issue.record(error)
                        }
                    }
                }
            }
        }
        #expect(answered.withLock { $0 } == 8 * 20)
    }
}
