import BeagleNet
import BeagleNetTesting
import Testing
import TestClients

@Suite(.beagle(), .timeLimit(.minutes(5))) struct TransformInterceptorTests {
    struct NotSealed: Error {}

    /// Puts "sealed" before each request body, and expects responses that begin with "!" and are reversed.
    private let cipher = TransformInterceptor { message in
        message.body = HTTPBody(
            "sealed " + String(decoding: try await message.body?.collect() ?? Data(), as: UTF8.self)
        )
    } response: { response in
        guard response.data.first == UInt8(ascii: "!") else { throw NotSealed() }
        response.data = Data(response.data.dropFirst().reversed())
    }

    @Test(arguments: NetworkOperation.Kind.known)
    func requestAndResponseAreTransformed(kind: NetworkOperation.Kind) async throws {
        let answers = ScriptedResponses(.success(.init("!cba", from: .cache, isStale: true)))
        let result = try await client(cipher, answers).run(.of(kind))
        #expect(result.shown == "abc stale")
        #expect(result.source == .cache)
        let body = try #require(answers.operations.withLock { $0.first?.transfer.body?.data })
        #expect(body.starts(with: Data("sealed ".utf8)))
    }

    @Test(arguments: NetworkOperation.Kind.known)
    func intermediateResultsAreTransformed(kind: NetworkOperation.Kind) async {
        let runs = ScriptedRuns()
        let received = EventRecorder()
        let client = client(cipher, runs)
        client.watch(.of(kind), received.receive)
        let run = await runs.next()
        run.emit(.init(.connection(.open)))
        run.emit(.init("!1a", hasNext: true))
        run.emit(.init("!2a", hasNext: true))
        run.finish(kind == .subscription ? .success(.init(.connection(.ended))) : .success(.init("!3a")))
        await received.waitForEvents(4)
        #expect(received.all.prefix(4) == ["open", "a1 more", "a2 more", kind == .subscription ? "ended" : "a3"])
    }

    @Test(arguments: [("!dab", "bad"), ("<html>", "<html>")])
    func errorBodyIsTransformedIfPossible(sent: String, read: String) async {
        var refusal = NetworkError.status(422)
        refusal.data = Data(sent.utf8)
        let result = await Result { [refusal] in
            try await client(cipher, ScriptedResponses(.failure(refusal))).run(.of(.form))
        }
        #expect(result.failure?.response?.status.code == 422)
        #expect(result.failure?.data == Data(read.utf8))
    }

    @Test func resultThatCannotBeTransformedEndsTheOperation() async {
        let runs = ScriptedRuns()
        let received = EventRecorder()
        let client = client(cipher, runs)
        client.watch(.of(.subscription), received.receive)
        let run = await runs.next()
        for text in ["!1", "plain", "!2"] { run.emit(.init(text, hasNext: true)) }
        await received.waitForEvents(2)
        #expect(received.all.prefix(2) == ["1 more", "failure: other"])
        #expect(runs.cancels == 1)
    }

    @Test func requestThatCannotBeTransformedIsNotSent() async {
        let answers = ScriptedResponses(.success(.init("1")))
        let client = client(TransformInterceptor { _ in throw NotSealed() }, answers)
        let error = await Result { try await client.run(.of(.form)) }.failure
        #expect(error?.underlying is NotSealed)
        #expect(error?.mayHaveReachedServer == false)
        #expect(answers.count == 0)
    }

    @Test func streamIsRejectedIfItsResponseWouldBeTransformed() async throws {
        let request = Request(url: URL(string: "http://host/")!, type: .fetchComponent)
        let runs = ScriptedRuns()
        let refused = client(cipher, runs)
        let error = await #expect(throws: NetworkError.self) { _ = try await refused.stream(request) }
        #expect(error?.kind == .unsupported)
        #expect(runs.count == 0)
        let passing = client(TransformInterceptor { $0.head.headerFields[.acceptLanguage] = "pt" }, runs)
        async let response = passing.stream(request)
        let run = await runs.next()
        #expect(run.operation.transfer.head.headerFields[.acceptLanguage] == "pt")
        run.finish("1")
        _ = try await response
    }
}
