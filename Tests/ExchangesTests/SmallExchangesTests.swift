@testable import BeagleNetExchanges
import BeagleNetHTTP
import Foundation
import Testing

import struct BeagleNetExchanges.Operation

@Suite(.timeLimit(.minutes(5))) struct SmallExchangesTests {
    private final class Marking: Exchange {
        let name: String
        let log: Lock<[String]>

        init(_ name: String, _ log: Lock<[String]>) {
            self.name = name
            self.log = log
        }

        func register(
            client: any GraphQLClient,
            operations: AnyPublisher<Operation, Never>,
            next: @escaping ExchangeIO
        ) -> AnyPublisher<OperationResult, Never> {
            let (name, log) = (name, log)
            let down = operations.handleEvents(receiveOutput: { _ in log.withLock { $0.append("down \(name)") } })
            return next(down.eraseToAnyPublisher())
                .handleEvents(receiveOutput: { _ in log.withLock { $0.append("up \(name)") } })
                .eraseToAnyPublisher()
        }
    }

    @Test(arguments: ExchangePlacement.allCases)
    func composedExchangesForwardInOrderAndReturnInReverse(_ way: ExchangePlacement) async throws {
        let log = Lock<[String]>([])
        let compose = ComposeExchange(exchanges: [Marking("A", log), Marking("B", log), Marking("C", log)])
        let fixture = try way.fixture(compose)
        await fixture.ask(.query(), "hello")
        #expect(log.withLock { $0.prefix(6) } == ["down A", "down B", "down C", "up C", "up B", "up A"])
        #expect(fixture.events == ["q>>", "=>hello"])
    }

    /// The logging exchange of the seed prints operations and results.
    @Test func descriptionsAreReadableAndContainNoSecrets() throws {
        let url = try #require(URL(string: "http://h/graphql?token=hunter2"))
        let args = ExecutionArgs(
            query: #"mutation { login(password: "hunter2") { id } }"#,
            variables: ["pin": "hunter2", "id": 7]
        )
        let operation = Operation(id: "m", kind: .mutation, request: URLRequest(url: url), args: args)
        let shown = #"""
            mutation m, cache-first, to http://h/graphql?token=REDACTED: mutation { login(password: "REDACTED") { id } }
            variables: {"id":7,"pin":"REDACTED"}
            """#
        #expect("\(operation)" == shown)
        let result = OperationResult(
            operation: operation,
            data: ["token": "hunter2", "name": "Ana"],
            error: .graphql([GraphQLError("no password=hunter2")]),
            stale: true
        )
        #expect(
            "\(result)" == #"""
                mutation m, stale: {"name":"Ana","token":"REDACTED"}
                error: no password=REDACTED
                """#
        )
        let decoded = DecodedOperationResult(operation: operation, data: ["token": "hunter2"])
        #expect("\(decoded)" == #"mutation m: ["token": "REDACTED"]"#)
        let execution = ExecutionResult(data: ["token": "hunter2"])
        for value in [operation, result, decoded, execution, args] as [Any] {
            var text = "\(value) \([value])"
            dump(value, to: &text)
            #expect(!text.contains("hunter2") && !text.contains("Box"), "\(text)")
        }
        let lines = Lock("")
        struct Output: TextOutputStream {
            let lines: Lock<String>
            mutating func write(_ text: String) { lines.withLock { $0 += text } }
        }
        _ = Just(operation).print("down", to: Output(lines: lines)).sink { _ in }
        #expect(lines.withLock { $0 }.contains(shown))
    }

    @Test func composedExchangesMaySubscribeTwice() {
        /// Subscribes to the operations twice.
        struct Twice: Exchange {
            func register(
                client: any GraphQLClient,
                operations: AnyPublisher<Operation, Never>,
                next: @escaping ExchangeIO
            ) -> AnyPublisher<OperationResult, Never> {
                let mutations = operations.filter { $0.kind == .mutation }
                return next(operations.filter { $0.kind != .mutation }.merge(with: mutations).eraseToAnyPublisher())
            }
        }
        let log = Lock<[String]>([])
        let fixture = ExchangeFixture(ComposeExchange(exchanges: [Marking("A", log), Twice()])) { $0.result("hello") }
        fixture.operations.send(.query())
        fixture.operations.send(.mutation())
        #expect(log.withLock { $0 } == ["down A", "up A", "down A", "up A"])
        #expect(fixture.forwarded.map(\.id) == ["q", "m"])
    }

    @Test(arguments: ExchangePlacement.allCases) func fallbackLogsUnhandledOperations(_ way: ExchangePlacement)
        async throws
    {
        let logger = MemoryLogger()
        let fixture = try way.fixture(FallbackExchange(), logger: logger)
        await fixture.ask(.query())
        await fixture.leave(.query())
        #expect(fixture.events.isEmpty)
        #expect(fixture.log.forwarded.isEmpty)
        #expect(logger.messages == ["no exchange handles operations of kind query"])
    }

    /// From the original: a query followed by the end of the operations gives only an end. The operations of hosted exchanges
    /// don't end before the exchanges are released.
    @Test func fallbackFinishesWithItsOperations() {
        let operations = PassthroughSubject<Operation, Never>()
        let received = Lock<[String]>([])
        let results = FallbackExchange(debug: false).register(
            client: CallRecordingClient(),
            operations: operations.eraseToAnyPublisher()
        ) { $0.compactMap { _ in OperationResult?.none }.eraseToAnyPublisher() }
        let subscription = results.sink { _ in
            received.withLock { $0.append("end") }
        } receiveValue: { _ in
            received.withLock { $0.append("result") }
        }
        operations.send(.query())
        #expect(received.withLock { $0.isEmpty })
        operations.send(completion: .finished)
        #expect(received.withLock { $0 } == ["end"])
        subscription.cancel()
    }

    @Test(arguments: ExchangePlacement.allCases) func authAddsTheToken(_ way: ExchangePlacement) async throws {
        let token = Lock<String?>("one")
        let fixture = try way.fixture(AuthExchange { token.withLock { $0 } })
        await fixture.ask(.query("q1"))
        token.withLock { $0 = nil }
        await fixture.ask(.query("q2"))
        token.withLock { $0 = "two" }
        await fixture.leave(.query("q2"))
        let fields = fixture.log.forwarded.map { $0.request.value(forHTTPHeaderField: "Authorization") }
        #expect(fields == ["one", nil, nil])
    }

    @Test(arguments: ExchangePlacement.allCases) func authUsesTheGivenHeaderField(_ way: ExchangePlacement) async throws
    {
        let fixture = try way.fixture(AuthExchange(header: "X-Token", getToken: { "one" }))
        await fixture.ask(.query())
        #expect(fixture.log.forwarded.first?.request.value(forHTTPHeaderField: "X-Token") == "one")
    }

    /// The field is therefore removed if the origin of the operation changes.
    @Test func authFieldIsScopedToTheRequestedOrigin() {
        let fixture = ExchangeFixture(AuthExchange(header: "X-Token", getToken: { "one" }))
        var operation = Operation.query()
        operation.request.url = URL(string: "http://host/graphql")
        fixture.operations.send(operation)
        #expect(fixture.forwarded.first?.scopedFields.map(\.rawName) == ["X-Token"])
        var moved = fixture.forwarded.first
        moved?.request.url = URL(string: "http://elsewhere/graphql")
        #expect(moved?.withoutForeignFields.request.value(forHTTPHeaderField: "X-Token") == nil)
    }

    @Test(arguments: ExchangePlacement.allCases) func extensionsAreReplaced(_ way: ExchangePlacement) async throws {
        let fixture = try way.fixture(ExtensionsExchange { ["id": .string($0.name)] })
        await fixture.ask(.query())
        #expect(fixture.log.forwarded.first?.args.extensions == ["id": "q"])
    }

    @Test(arguments: ExchangePlacement.allCases) func errorsAreReported(_ way: ExchangePlacement) async throws {
        let reports = Lock<[String]>([])
        let fixture = try way.fixture(
            ErrorExchange { error, operation in reports.withLock { $0.append("\(operation.name): \(error)") } }
        )
        await fixture.ask(.query("q1"), "fine")
        await fixture.ask(.query("q2"))
        await fixture.answer(Operation.query("q2").result(nil, error: .graphql([GraphQLError("no")])))
        #expect(reports.withLock { $0 } == ["q2: no"])
        #expect(fixture.results.count == 2)
    }

    @Test func logDescribesOperationsWithoutTheirData() {
        let logger = MemoryLogger()
        let fixture = ExchangeFixture(LogExchange(), CallRecordingClient(logger: logger))
        fixture.operations.send(.query())
        fixture.below.send(Operation.query().result("secret", stale: true))
        fixture.below.send(Operation.query().result(nil, error: .graphql([GraphQLError("secret")])))
        #expect(
            logger.messages == [
                "incoming query q, cache-first", "completed query q, stale", "completed query q: 1 GraphQL error",
            ]
        )
        #expect(logger.logs.map(\.level) == [.debug, .debug, .debug])
    }

    @Test func debugExchangeLogsOnlyIfEnabled() {
        let logger = MemoryLogger()
        let client = CallRecordingClient(logger: logger)
        let (quiet, telling) = (
            ExchangeFixture(DebugExchange(debug: false), client), ExchangeFixture(DebugExchange(), client)
        )
        quiet.ask(.query())
        #expect(logger.messages.isEmpty)
        telling.ask(.query())
        #expect(logger.logs.map(\.level) == [.debug])
    }

    @Test func kindsAndPoliciesAreSpelledAsInTheOriginal() {
        #expect(Operation.Kind.allCases.map(\.rawValue) == ["query", "mutation", "subscription", "teardown"])
        #expect(
            Operation.Policy.allCases.map(\.rawValue)
                == ["cache-first", "cache-only", "network-only", "cache-and-network"]
        )
        #expect(Operation.Policy.allCases.map(\.isNetwork) == [false, false, true, true])
    }

    @Test func equalErrorsNeedEqualContents() {
        #expect(CombinedError.network(URLError(.timedOut)) == .network(URLError(.timedOut)))
        #expect(CombinedError.network(URLError(.timedOut)) != .network(URLError(.cancelled)))
        #expect(CombinedError.unknown(CancellationError()) != .unknown(CancellationError()))
    }

    @Test func anyCodableHasTheInterfaceOfTheOriginal() throws {
        struct Point: Encodable { var x = 1 }
        let value: AnyCodable = ["text": AnyCodable("a"), "number": AnyCodable(1), "list": [AnyCodable(1.5), nil]]
        #expect(value["text"]?.value as? String == "a")
        #expect(value["number"]?.value as? Int == 1)
        #expect(try AnyCodable(Point()) == ["x": 1])
        #expect(try JSONEncoder().encode(AnyCodable(true)) == Data("true".utf8))
    }
}
