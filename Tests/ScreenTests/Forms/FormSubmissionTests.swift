import BeagleNet
import BeagleNetTesting
import Foundation
import Testing
import TestClients

@Suite(.beagle(), .timeLimit(.minutes(5))) struct FormSubmissionTests {
    /// A client that returns these outcomes one after another.
    private func client(_ answers: Result<Int, NetworkError>...) -> StubClient {
        let rest = Lock(answers[...])
        return StubClient { _ in
            let answer = try #require(rest.withLock { $0.popFirst() })
            return NetworkResponse(response: HTTPResponse(status: .init(code: try answer.get())))
        }
    }

    private static let lost: NetworkError = {
        var error = NetworkError(.network, during: .firstByte, "the connection was lost")
        error.mayHaveReachedServer = true
        return error
    }()
    private static let unreached = NetworkError(.connect, during: .connect, "no connection")

    private func states(_ submission: Form.Submission, _ count: Int) async -> [String] {
        var seen: [String] = []
        for await state in submission.states {
            seen.append(state.word)
            if seen.count == count { break }
        }
        return seen
    }

    @Test func successEndsTheStatesAndCannotBeRetried() async {
        let submission = client(.success(204)).submission(of: Form(), to: "http://h/")
        var seen: [String] = []
        for await state in submission.states { seen.append(state.word) }
        #expect(seen == ["started", "finished", "success"])
        #expect(!submission.canRetry && !submission.retry())
        // A late subscriber receives the same states.
        seen = []
        for await state in submission.states { seen.append(state.word) }
        #expect(seen == ["started", "finished", "success"])
    }

    @Test func acceptedFormIsNotSentAgainExceptByARetry() async {
        let sent = Lock(0)
        let client = StubClient { _ in
            let isFirst = sent.withLock { sent in (sent += 1, sent).1 } == 1
            if isFirst { throw Self.unreached }
            return NetworkResponse(response: HTTPResponse(status: .noContent))
        }
        let form = Form([Form.Input("a", 1)])
        let failed = client.submission(of: form, to: "http://h/")
        #expect(await states(failed, 3).last == "connect")
        for _ in 0..<2 {
            let submission = client.submission(of: form, to: "http://h/")
            #expect(await states(submission, 3) == ["started", "finished", "success"])
        }
        #expect(sent.withLock { $0 } == 2)
        #expect(failed.retry())
        #expect(await states(failed, 3).last == "success")
        #expect(sent.withLock { $0 } == 3)
    }

    @Test func retryContinuesTheSameStates() async {
        let form = Form([Form.Input("a", isRequired: true)])
        let submission = client(.failure(Self.unreached), .success(429), .success(204)).submission(
            of: form,
            to: "http://h/"
        )
        var seen: [String] = []
        for await state in submission.states {
            seen.append(state.word)
            guard case .error = state else { continue }
            #expect(submission.canRetry)
            form["a"] = 1
            #expect(submission.retry())
        }
        let run = ["started", "finished"]
        let expected = run + ["refused"] + run + ["connect"] + run + ["status"] + run + ["success"]
        #expect(seen == expected)
    }

    @Test("a gateway that gave up doesn't know whether the form was accepted", arguments: [303, 408, 500, 502, 504])
    func ambiguousStatusCannotBeRetried(status: Int) async {
        let form = Form([Form.Input("a", 1)])
        let submission = client(.success(status), .success(204)).submission(of: form, to: "http://h/")
        for await state in submission.states { if case .error = state { break } }
        #expect(!submission.canRetry && !submission.retry())
    }

    @Test func runningSubmissionCannotBeRetried() async throws {
        let held = HeldCompletion()
        Beagle.dependencies.environment = .example
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: held.transport())
        let submission = client.submission(of: Form(), to: "/")
        #expect(!submission.retry() && !submission.canRetry)
        await held.isHeld()
        #expect(!submission.retry())
        held.complete(.success(TransferResponse(head: HTTPResponse(status: .ok), url: "")))
        #expect(await states(submission, 3) == ["started", "finished", "success"])
    }

    private static let possiblyAcceptedFormIsRetriedIfSafeArguments: [(FormRemoteAction.Method, Bool, Bool, Bool)] = [
        (.post, false, false, false), (.post, true, false, true), (.post, true, true, false),
        (.put, false, true, true),
    ]

    @Test(arguments: Self.possiblyAcceptedFormIsRetriedIfSafeArguments)
    func possiblyAcceptedFormIsRetriedIfSafe(
        _ method: FormRemoteAction.Method,
        _ hasKey: Bool,
        _ isChanged: Bool,
        _ mayRetry: Bool
    ) async {
        let form = Form([Form.Input("a", 1)], method: method, sendsIdempotencyKey: hasKey)
        let submission = client(.failure(Self.lost), .success(204)).submission(of: form, to: "http://h/")
        #expect(await states(submission, 3).last == "network")
        if isChanged { form["a"] = 2 }
        #expect(submission.canRetry == mayRetry)
        #expect(submission.retry() == mayRetry)
        #expect(await states(submission, 3).last == (mayRetry ? "success" : "network"))
    }

    @Test func customIdempotencyKeyAllowsARetry() async {
        let headers = ["Idempotency-Key": "\"a\""]
        let submission = client(.failure(Self.lost), .success(204))
            .submission(of: Form(), to: "http://h/", headers: headers)
        #expect(await states(submission, 3).last == "network")
        #expect(submission.retry())
    }

    @Test func cancellingIsAnError() async {
        let held = HeldCompletion()
        Beagle.dependencies.environment = .example
        let client = NetworkClientDefault(dependencies: Beagle.dependencies, transport: held.transport())
        let submission = client.submission(of: Form(), to: "/")
        await held.isHeld()
        submission.cancel()
        #expect(await states(submission, 3).last == "cancelled")
        held.complete(.failure(.cancelled))
    }

    @Test func statesEndWhenTheSubmissionIsReleased() async throws {
        var submission: Form.Submission? = client(.failure(Self.unreached)).submission(of: Form(), to: "http://h/")
        let states = submission?.states
        submission = nil
        var seen: [String] = []
        for await state in try #require(states) { seen.append(state.word) }
        #expect(seen == ["started", "finished", "connect"])
    }
}

extension Form.Submission.State {
    fileprivate var word: String {
        switch self {
        case .started: "started"
        case .finished: "finished"
        case .success: "success"
        case .error(.refused): "refused"
        case .error(.network(let error)): error.kind.rawValue
        }
    }
}
