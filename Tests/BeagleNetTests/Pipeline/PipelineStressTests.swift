import BeagleNet
import BeagleNetTesting
import Testing
import TestClients

/// The interceptors that change an operation, together, while many callers run, cancel and close scopes concurrently.
@Suite(.beagle(), .timeLimit(.minutes(5))) struct PipelineStressTests {
    private static let kinds: [NetworkOperation.Kind] = [.component, .form, .image, .raw]
    private static let threads = 8
    private static let turns = 40

    /// A server that at times requires another token, returns an error or is unreachable.
    private final class Server: Sendable {
        private struct State {
            var isCalm = false
            var requests = 0
            /// The valid token: the number of times that it has changed.
            var token = 0
            var loads = 0
            var renewals = 0
            /// The number of times that it accepted each form, regardless of its response.
            var forms: [Int: Int] = [:]
        }

        private let state = Lock(State())

        var refusals: Int { state.withLock { $0.token } }
        var loads: Int { state.withLock { $0.loads } }
        var renewals: Int { state.withLock { $0.renewals } }
        var forms: [Int: Int] { state.withLock { $0.forms } }

        /// Makes every request succeed from now on.
        func calmDown() {
            state.withLock { $0.isCalm = true }
        }

        var rules: AuthInterceptor<Int>.Rules {
            AuthInterceptor<Int>.Rules(
                load: {
                    self.state.withLock { state in
                        state.loads += 1
                        return state.token
                    }
                },
                renew: { _ in
                    await Task.yield()
                    return self.state.withLock { state in
                        state.renewals += 1
                        return state.token
                    }
                },
                attach: { token, head in head.headerFields[.authorization] = "\(token)" }
            )
        }

        func answer(_ request: TransferRequest) -> CacheFixture.Outcome {
            let token = request.head.headerFields[.authorization]
            let body = String(decoding: request.body?.data ?? Data(), as: UTF8.self)
            return state.withLock { state in
                state.requests += 1
                let number = state.isCalm ? 1 : state.requests
                if number % 13 == 0 { return .failure(.refused) }
                if number % 11 == 0 { state.token += 1 }
                guard token == "\(state.token)" else { return .text("", status: 401) }
                if let form = Int(body.dropFirst("id=".count)) { state.forms[form, default: 0] += 1 }
                if number % 7 == 0 { return .text("", status: 503) }
                return number % 17 == 0 ? .failure(.lost) : .text("1")
            }
        }
    }

    /// Scopes with all rules under one root. A scope that is closed is replaced by another.
    private final class Screens: Sendable {
        private let root: OperationScope
        private let present: Lock<[OperationScope]>
        private let closed = Lock<[OperationScope]>([])

        init() {
            let root = OperationScope()
            self.root = root
            present = Lock(OperationScope.Rule.allCases.map { OperationScope($0, in: root) })
        }

        var all: [OperationScope] { present.withLock { $0 } + closed.withLock { $0 } }

        func one() -> OperationScope {
            present.withLock { scopes in scopes[Int.random(in: 0..<scopes.count)] }
        }

        func closeOne() {
            let scope = present.withLock { scopes in
                let scope = scopes.remove(at: Int.random(in: 0..<scopes.count))
                scopes.append(OperationScope(scope.rule, in: root))
                return scope
            }
            closed.withLock { $0.append(scope) }
            scope.close()
        }

        func closeAll() {
            root.close()
        }
    }

    private struct Counts {
        /// The number of times that each operation ended.
        var ends: [Int] = []
        /// The forms that succeeded.
        var submitted: Set<Int> = []
    }

    /// Forms with even numbers may be sent more than once.
    private static func hasKey(_ number: Int) -> Bool { number.isMultiple(of: 2) }

    private static func operation(_ kind: NetworkOperation.Kind, _ number: Int) -> NetworkOperation {
        let id = "\(number)"
        let type: Request.RequestType =
            switch kind {
            case .component: .fetchComponent
            case .image: .fetchImage
            case .form: .submitForm(.init(method: .post, fields: [FormField("id", id)], encoding: .urlEncoded))
            default: .rawRequest(.init(method: "PUT"))
            }
        var request = Request(url: URL(string: "http://host/\(kind)/\(number % 5)")!, type: type)
        if kind == .form, hasKey(number) {
            request.additionalData = HttpAdditionalData(headers: ["Idempotency-Key": id])
        }
        var operation = NetworkOperation(request, kind: kind)
        operation.partition = "\(number % 3)"
        return operation
    }

    /// Runs an operation in one of two ways.
    private static func ask(
        _ operation: NetworkOperation,
        _ client: any NetworkClient,
        _ completion: @escaping @Sendable (_ hasSucceeded: Bool) -> Void
    ) -> (any RequestToken)? {
        if Bool.random() {
            return client.executeRequest(operation.request) { result in completion(result.failure == nil) }
        }
        let task = Task {
            let result = await Result { try await client.run(operation) }
            completion(result.failure == nil)
        }
        return AnyRequestToken(task)
    }

    /// Runs an operation of each kind concurrently, cancels some, may close a scope, and waits for all.
    private static func turn(
        _ number: Int,
        _ client: NetworkClientDefault,
        _ screens: Screens,
        _ tally: Lock<Counts>
    ) async {
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        var tokens: [(any RequestToken)?] = []
        for kind in kinds {
            var operation = Self.operation(kind, number)
            if Int.random(in: 0..<10) == 0 { operation.deadline = .microseconds(200) }
            let asker: any NetworkClient = Bool.random() ? client : client.scoped(in: screens.one())
            let id = tally.withLock { tally in
                tally.ends.append(0)
                return tally.ends.count - 1
            }
            let token = ask(operation, asker) { hasSucceeded in
                tally.withLock { tally in
                    tally.ends[id] += 1
                    if hasSucceeded, kind == .form { tally.submitted.insert(number) }
                }
                continuation.yield()
            }
            tokens.append(token)
        }
        for token in tokens where Int.random(in: 0..<4) == 0 { token?.cancel() }
        if Int.random(in: 0..<8) == 0 { screens.closeOne() }
        var left = kinds.count
        for await _ in ends {
            left -= 1
            if left == 0 { break }
        }
    }

    @Test("eight threads run, cancel and close scopes while tokens expire and responses fail")
    func eightThreadsRunCancelAndCloseScopes() async {
        let server = Server()
        let transport = ScriptedTransport { request, completion in
            Task.detached {
                for _ in 0..<Int.random(in: 0...3) { await Task.yield() }
                completion(server.answer(request))
            }
        }
        Beagle.dependencies.httpRequestBuilder.baseURL = URL(string: "http://host")
        Beagle.dependencies.interceptors = [
            DeadlineInterceptor(limit: .seconds(600)), RequestPolicyInterceptor(ttl: .milliseconds(1)),
            CacheInterceptor(MemoryResponseStore()),
            RetryInterceptor(
                backoff: Backoff(base: .zero, limit: 3),
                budget: RetryInterceptor.Budget(tokens: 1_000_000)
            ),
            AuthInterceptor(server.rules, limit: .seconds(600)), HeadersInterceptor { _ in [.acceptLanguage: "pt"] },
            OriginPolicyInterceptor(), StatusInterceptor(),
        ]
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
        let (screens, tally) = (Screens(), Lock(Counts()))
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<Self.threads {
                group.addTask {
                    for turn in 0..<Self.turns {
                        await Self.turn(thread * Self.turns + turn, client, screens, tally)
                    }
                }
            }
        }
        while client.activeOperations > 0, !Task.isCancelled { await Task.yield() }
        #expect(client.activeOperations == 0)
        #expect(client.activeSubscribers == 0)
        screens.closeAll()
        for scope in screens.all {
            #expect(scope.isClosed)
            #expect(scope.count == 0)
            let late = await Result { try await client.scoped(in: scope).run(Self.operation(.raw, 0)) }
            #expect(late.failure?.isCancelled == true)
        }
        let ends = tally.withLock { $0.ends }
        #expect(ends.count == Self.threads * Self.turns * Self.kinds.count)
        #expect(ends.allSatisfy { $0 == 1 })
        let forms = server.forms
        for (number, count) in forms { #expect(count <= (Self.hasKey(number) ? 3 : 1), "form \(number)") }
        let submitted = tally.withLock { $0.submitted }
        #expect(submitted.allSatisfy { forms[$0] != nil })
        // The server works again, and each kind succeeds with a valid token.
        server.calmDown()
        for kind in Self.kinds {
            let answer = await Result { try await client.run(Self.operation(kind, Self.threads * Self.turns)) }
            #expect(answer.failure == nil, "\(kind)")
        }
        #expect(server.loads == 1)
        #expect(server.renewals > 0)
        #expect(server.renewals <= server.refusals)
    }
}
