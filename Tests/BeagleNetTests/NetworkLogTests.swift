import BeagleNet
import BeagleNetTesting
import CurlPeers
import Testing
import TestClients

@Suite(.leavesNothing, .beagle(), .timeLimit(.minutes(5))) struct NetworkLogTests {
    init() {
        Beagle.dependencies.interceptors.replace(with: LogInterceptor(.messages))
    }

    private func client(_ transport: any HTTPTransport) -> NetworkClientDefault {
        NetworkClientDefault(dependencies: Beagle.dependencies, transport: transport)
    }

    @Test("row 38: request and response are logged without secrets")
    func requestAndResponseAreLoggedWithoutSecrets() async throws {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        let transport = ScriptedTransport("{\"iban\":\"hunter2\"}", [.setCookie: "id=hunter2"])
        let data = Request.RequestData(
            method: "POST",
            headers: ["Authorization": "Bearer hunter2", "Cookie": "id=hunter2"],
            body: .json(["password": "hunter2"])
        )
        let url = try #require(URL(string: "http://host/a?token=hunter2"))
        _ = try await client(transport).executeRequest(Request(url: url, type: .rawRequest(data)))
        #expect(logger.messages.count == 2)
        #expect(logger.messages[0].hasPrefix("-> POST http://host/a?"))
        #expect(logger.messages[1].hasPrefix("<- 200 http://host/a?"))
        for message in logger.messages { #expect(!message.contains("hunter2")) }
    }

    @Test func exchangeWithAnyOutcomeIsLoggedInOneLine() async throws {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        Beagle.dependencies.interceptors.replace(with: LogInterceptor(.exchanges))
        let server = try LoopbackServer { request in
            switch request.target {
            case "/moved?token=hunter2": .response(302, ["Location": "/home"])
            case "/home": .response(200, ["Content-Type": "text/plain"], "here")
            case "/none": .response(404, [:], "no")
            default: .close
            }
        }
        Beagle.dependencies.interceptors.removeAll { $0 is RetryInterceptor }
        let client = NetworkClientDefault(dependencies: Beagle.dependencies)
        for path in ["/home", "/moved?token=hunter2", "/none", "/gone"] {
            let request = Request(url: try #require(URL(string: server.url + path)), type: .fetchComponent)
            _ = await Result { try await client.executeRequest(request) }
        }
        let streamed = Request(url: try #require(URL(string: server.url + "/home")), type: .fetchImage)
        let stream = try await client.stream(streamed)
        #expect(logger.messages.count == 4)
        _ = try await stream.collect()
        let lines = logger.messages.map {
            $0.replacing(server.url, with: "").replacing(/\d+ ms/, with: "1 ms")
        }
        #expect(
            lines == [
                "GET /home -> 200 in 1 ms [4 bytes of text/plain]",
                "GET /moved?token=REDACTED -> 200 after 1 redirect in 1 ms [4 bytes of text/plain]",
                "GET /none -> 404 in 1 ms [2 bytes of unknown type]",
                "GET /gone -> empty reply from server in 1 ms",
                "GET /home -> 200 in 1 ms [4 bytes of text/plain]",
            ]
        )
    }

    @Test func requestIsLoggedAsACurlCommand() async throws {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        Beagle.dependencies.interceptors.replace(with: LogInterceptor(.commands))
        let form = Request.FormData(method: .get, values: ["diagnosis": "hunter2"])
        _ = try await client(ScriptedTransport()).submit(form, to: "http://host/a?b=1")
        #expect(logger.messages.count == 2)
        #expect(logger.messages[0].hasPrefix("curl "))
        #expect(logger.messages[0].hasSuffix(" --url 'http://host/a?…'"))
        #expect(logger.messages[1].hasPrefix("<- 200 http://host/a?…"))
        for message in logger.messages { #expect(!message.contains("hunter2")) }
    }

    private static let loggedCommandNamesItsGraphQLOperationArguments: [(String?, String)] = [
        ("Home", "query Home"), ("Home\nrm -r", "query"), (nil, "query"),
    ]

    @Test(arguments: Self.loggedCommandNamesItsGraphQLOperationArguments)
    func loggedCommandNamesItsGraphQLOperation(name: String?, title: String) async throws {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        Beagle.dependencies.interceptors.replace(with: LogInterceptor(.commands))
        let url = try #require(URL(string: "http://host/graphql"))
        let data = Request.RequestData(method: "POST", body: .json(["query": "{ a }"]))
        var operation = NetworkOperation(Request(url: url, type: .rawRequest(data)), kind: .query)
        operation.operationName = name
        _ = try await client(ScriptedTransport()).run(operation)
        #expect(logger.messages.count == 2)
        let lines = (logger.messages.first ?? "").split(separator: "\n").map(String.init)
        #expect(lines.count == 2)
        #expect(lines.first == "# \(title)")
        #expect(lines.last?.hasPrefix("curl --request POST ") == true)
    }

    @Test func redirectsAreLoggedBeforeTheFinalOutcome() async throws {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        let server = try LoopbackServer { request in
            switch request.target {
            case "/first": .response(302, ["Location": "/second?token=hunter2"])
            case "/second?token=hunter2": .response(302, ["Location": "/last"])
            default: .close
            }
        }
        Beagle.dependencies.interceptors.removeAll { $0 is RetryInterceptor }
        let url = try #require(URL(string: server.url + "/first"))
        let client = NetworkClientDefault(dependencies: Beagle.dependencies)
        await #expect(throws: NetworkError.self) {
            try await client.executeRequest(Request(url: url, type: .fetchComponent))
        }
        let messages = logger.messages.map { $0.replacing(server.url, with: "") }
        let expected = [
            "-> GET /first ", "<- 302 /first ", "<- 302 /second?token=REDACTED ", "<- empty reply from server /last ",
        ]
        #expect(messages.count == expected.count)
        #expect(zip(messages, expected).allSatisfy { $0.hasPrefix($1) }, "\(messages)")
    }

    @Test func formValuesInAQueryAreNotLogged() async throws {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        let form = Request.FormData(method: .get, values: ["diagnosis": "hunter2"])
        _ = try await client(ScriptedTransport()).submit(form, to: "http://host/a?b=1")
        #expect(logger.messages.count == 2)
        #expect(logger.messages[0].hasPrefix("-> GET http://host/a?…"))
        for message in logger.messages { #expect(!message.contains("hunter2")) }
    }

    @Test func decodingErrorDoesNotQuoteTheBody() async throws {
        enum Role: String, Decodable { case admin }
        for body in ["\"hunter2\"", "hunter2"] {
            let response = NetworkResponse(text: body)
            let error = #expect(throws: NetworkError.self) { try response.decode(as: Role.self) }
            #expect(error.map { "\($0)".contains("hunter2") } == false)
        }
    }

    @Test func appErrorIsLoggedByTypeOnly() async throws {
        struct Refused: Error { let token = "hunter2" }
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        let transport = ScriptedTransport { _ in .failure(NetworkError(wrapping: Refused())) }
        let request = Request(url: URL(string: "http://host/")!, type: .fetchComponent)
        await #expect(throws: NetworkError.self) { try await client(transport).executeRequest(request) }
        #expect(logger.messages.last?.contains("Refused") == true)
        for message in logger.messages { #expect(!message.contains("hunter2")) }
    }

    @Test func fieldMarkedSecretByTheAppIsNotLogged() async throws {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        Beagle.dependencies.redactor.secrets = ["x-mine"]
        _ = try await client(ScriptedTransport()).image("http://host/", headers: ["X-Mine": "hunter2"])
        #expect(logger.messages[0].contains("X-Mine"))
        for message in logger.messages { #expect(!message.contains("hunter2")) }
    }

    private static let reportedOutcomesAreLoggedAtDebugLevelArguments: [Result<Int, NetworkError>] = [
        .success(200), .success(404), .success(503), .failure(NetworkError(.dns, during: .resolve, "no such host")),
        .failure(.cancelled),
    ]

    @Test(arguments: Self.reportedOutcomesAreLoggedAtDebugLevelArguments, [LogInterceptor.Style.exchanges, .messages])
    func reportedOutcomesAreLoggedAtDebugLevel(
        outcome: Result<Int, NetworkError>,
        style: LogInterceptor.Style
    ) async throws {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        Beagle.dependencies.interceptors.replace(with: LogInterceptor(style))
        Beagle.dependencies.interceptors.replace(with: RetryInterceptor(backoff: Backoff(base: .zero, limit: 2)))
        let transport = ScriptedTransport { _ in
            outcome.map { TransferResponse(head: HTTPResponse(status: .init(code: $0)), url: "http://host/") }
        }
        let request = Request(url: URL(string: "http://host/")!, type: .fetchComponent)
        _ = await Result { try await client(transport).executeRequest(request) }
        #expect(!logger.logs.isEmpty)
        #expect(logger.logs.allSatisfy { $0.level == .debug })
    }

    @Test func defaultLogIsOneLineThatCountsAttempts() async throws {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        Beagle.dependencies.interceptors.replace(with: LogInterceptor())
        Beagle.dependencies.interceptors.replace(with: RetryInterceptor(backoff: Backoff(base: .zero, limit: 3)))
        let statuses = Lock([503, 503, 200])
        let transport = ScriptedTransport { _ in
            let status = statuses.withLock { $0.removeFirst() }
            return .success(TransferResponse(head: HTTPResponse(status: .init(code: status)), url: "http://host/"))
        }
        let request = Request(url: URL(string: "http://host/?token=hunter2")!, type: .fetchComponent)
        _ = try await client(transport).executeRequest(request)
        let lines = logger.messages.map { $0.replacing(/in \d+ ms/, with: "in 1 ms") }
        #expect(
            lines == [
                "GET http://host/?token=REDACTED: retrying in 1 ms (attempt 2), because the server returned 503",
                "GET http://host/?token=REDACTED: retrying in 1 ms (attempt 3), because the server returned 503",
                "GET http://host/?token=REDACTED -> 200 after 3 attempts in 1 ms [0 bytes of unknown type]",
            ]
        )
    }

    @Test func logHasTheDecisionOfTheCache() async throws {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        Beagle.dependencies.interceptors.replace(with: LogInterceptor())
        Beagle.dependencies.interceptors.add(CacheInterceptor())
        let transport = ScriptedTransport("1", [.cacheControl: "max-age=60"])
        let request = Request(url: URL(string: "http://host/")!, type: .rawRequest(Request.RequestData()))
        let client = client(transport)
        for _ in 0..<2 { _ = try await client.executeRequest(request) }
        let lines = logger.messages.map {
            $0.replacing(/in \d+ ms/, with: "in 1 ms").replacing(/ttl=\d+/, with: "ttl=9")
        }
        #expect(
            lines == [
                "GET http://host/ -> 200 in 1 ms [cache fwd=uri-miss; 1 byte of unknown type]",
                "GET http://host/ -> 200 in 1 ms [cache hit; ttl=9; 1 byte of unknown type]",
            ]
        )
    }

    private static let logSaysWhetherAGraphQLResponseHasErrorsArguments: [(String, String)] = [
        (#"{"data":{}}"#, "200"), (#"{"errors":[{"message":"no"}],"data":null}"#, "200 with GraphQL errors"),
        ("<html>", "200"),
    ]

    @Test(arguments: Self.logSaysWhetherAGraphQLResponseHasErrorsArguments)
    func logSaysWhetherAGraphQLResponseHasErrors(body: String, outcome: String) async throws {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        Beagle.dependencies.interceptors.replace(with: LogInterceptor())
        let url = try #require(URL(string: "http://host/graphql"))
        let data = Request.RequestData(method: "POST", body: .json(["query": "{ a }"]))
        let operation = NetworkOperation(Request(url: url, type: .rawRequest(data)), kind: .query)
        _ = try await client(ScriptedTransport(body)).run(operation)
        #expect(logger.messages.count == 1)
        #expect(logger.messages.first?.hasPrefix("POST http://host/graphql -> \(outcome) in ") == true)
    }

    @Test func aSubscriptionIsNotLoggedAsAPost() async throws {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        let ends = ScriptedRuns { _, _ in .init(.connection(.open)) }
        Beagle.dependencies.interceptors = [LogInterceptor(), ends]
        let url = try #require(URL(string: "http://host/graphql"))
        let data = Request.RequestData(method: "POST", body: .json(["query": "subscription Prices { a }"]))
        var operation = NetworkOperation(Request(url: url, type: .rawRequest(data)), kind: .subscription)
        operation.operationName = "Prices"
        _ = try await client(ScriptedTransport()).run(operation)
        #expect(logger.messages.count == 1)
        #expect(logger.messages.first?.hasPrefix("subscription Prices http://host/graphql -> ended in ") == true)
    }

    // MARK: - Streams

    /// A client whose streams yield "half", and then end as `more` decides.
    private func streaming(
        _ more: @escaping @Sendable (AsyncThrowingStream<Data, any Error>.Continuation) -> Void
    ) -> NetworkClientDefault {
        client(
            ScriptedTransport { request in
                let body = HTTPBody.stream {
                    AsyncThrowingStream { continuation in
                        continuation.yield(Data("half".utf8))
                        more(continuation)
                    }
                }
                let head = HTTPResponse(status: .ok, headerFields: [.contentType: "a/b; c=d"])
                return .success(TransferResponse(head: head, body: body, url: request.head.urlText))
            }
        )
    }

    private func logger() -> MemoryLogger {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        return logger
    }

    private let stream = Request(url: URL(string: "http://host/a?token=hunter2")!, type: .fetchImage)

    @Test func theEndOfAStreamIsLoggedOnce() async throws {
        let logger = logger()
        do {
            let response = try await streaming { $0.finish() }.stream(stream)
            #expect(logger.messages.count == 2)
            #expect(try await response.collect().text() == "half")
        }
        #expect(logger.messages.count == 3)
        let end = try #require(logger.messages.last)
        #expect(end.hasPrefix("<- 200 http://host/a?token=REDACTED in "))
        #expect(end.hasSuffix(" ms [read 4 bytes]"))
        for message in logger.messages { #expect(!message.contains("hunter2")) }
    }

    @Test func theFailureOfAStreamIsLoggedOnce() async throws {
        let logger = logger()
        do {
            let cut = NetworkError(.truncated, during: .body, "cut short")
            let response = try await streaming { $0.finish(throwing: cut) }.stream(stream)
            await #expect(throws: NetworkError.self) { try await response.collect() }
        }
        #expect(logger.logs.map(\.level) == [.debug, .debug, .debug])
        let end = try #require(logger.messages.last)
        #expect(end.hasPrefix("<- cut short http://host/a"))
        #expect(end.hasSuffix(" ms [read 4 bytes]"))
    }

    @Test(arguments: [0, 1])
    func discardedStreamIsLoggedOnce(chunks: Int) async throws {
        let logger = logger()
        do {
            let response = try await streaming { _ in }.stream(stream)
            var iterator = response.body.makeAsyncIterator()
            for _ in 0..<chunks { #expect(try await iterator.next() != nil) }
            #expect(logger.messages.count == 2)
        }
        #expect(logger.logs.map(\.level) == [.debug, .debug, .debug])
        let end = try #require(logger.messages.last)
        #expect(end.hasPrefix("<- the body was discarded before its end http://host/a"))
        #expect(end.hasSuffix(" ms [read \(chunks * 4) bytes]"))
    }

    @Test func aLoggerSetLaterIsUsed() async throws {
        let client = client(ScriptedTransport())
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        _ = try await client.image("http://host/")
        #expect(logger.messages.count == 2)
    }

    @Test func noMessageIsBuiltForADisabledLogger() async throws {
        struct DisabledLogger: BeagleLogger {
            func log(_ log: any LogType) { Issue.record("\(log.message)") }
            func accepts(_ level: LogLevel) -> Bool { false }
        }
        Beagle.dependencies.logger = DisabledLogger()
        _ = try await client(ScriptedTransport()).image("http://host/")
        await #expect(throws: NetworkError.self) { try await client(ScriptedTransport()).image("ftp://host/") }
        await #expect(throws: NetworkError.self) { try await client(ScriptedTransport()).image("/no/base") }
    }

    @Test func pathWithoutABaseURLIsLogged() async throws {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        let error = try await #require(throws: NetworkError.self) {
            try await client(ScriptedTransport()).image("/no/base")
        }
        #expect(error.kind == .badURL)
        #expect(error.message == "no base URL is set for the path /no/base")
        #expect(logger.messages == ["Could not build a URL from /no/base"])
    }
}
