import BeagleNet
import BeagleNetTesting
import Testing
import TestClients

@Suite(.beagle(), .timeLimit(.minutes(5))) struct AsyncFormValidatorTests {
    /// A check that a test answers.
    private final class Names: Sendable {
        private struct State {
            var validated: [Form.Value] = []
            var pending: [CheckedContinuation<Form.Message?, any Error>] = []
        }

        private let state = Lock(State())
        private let (begun, continuation) = AsyncStream.makeStream(of: Void.self)

        var validated: [Form.Value] { state.withLock { $0.validated } }

        func check(_ value: Form.Value) async throws -> Form.Message? {
            try await withCheckedThrowingContinuation { pending in
                state.withLock { state in
                    state.validated.append(value)
                    state.pending.append(pending)
                }
                continuation.yield()
            }
        }

        func waitForCall() async { for await _ in begun { break } }

        func answer(_ result: Result<Form.Message?, any Error>) {
            let pending = state.withLock { $0.pending.isEmpty ? nil : $0.pending.removeFirst() }
            #expect(pending != nil)
            pending?.resume(with: result)
        }
    }

    private static let taken = Form.Message(.init(rawValue: "taken"), "is taken")
    private let clock = ManualClock()
    private let names = Names()
    private let client = StubClient { _ in NetworkResponse(response: HTTPResponse(status: .noContent)) }

    private func form(_ value: Form.Value = .empty) -> Form {
        Beagle.dependencies.clock = clock
        return Form([
            Form.Input(
                "name",
                value,
                validators: [.length(atLeast: 2)],
                asyncValidator: Form.AsyncValidator { [names] in try await names.check($0) }
            ),
            Form.Input("other"),
        ])
    }

    private func until(_ form: Form, _ condition: @escaping (Form.State) -> Bool) async {
        for await state in form.states where condition(state) { break }
    }

    @Test func valueThatIsEditedDuringItsCheckIsCheckedBeforeItIsSent() async throws {
        let form = form("ann")
        let requests = Lock(0)
        let client = StubClient { _ in
            requests.withLock { $0 += 1 }
            return NetworkResponse(response: HTTPResponse(status: .noContent))
        }
        let work = Task { try await client.submit(form, to: "http://host/") }
        await names.waitForCall()
        form["name"] = "bob"
        names.answer(.success(nil))
        await names.waitForCall()
        #expect(names.validated == ["ann", "bob"])
        names.answer(.success(Self.taken))
        let reply = try await work.value
        #expect(!reply.isAccepted)
        #expect(requests.withLock { $0 } == 0)
    }

    @Test func valueIsCheckedWhenItHasNotBeenEditedForAWhile() async {
        let form = form()
        form["name"] = "an"
        await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(299))
        form["name"] = "ann"
        // The pause of the first value has been cancelled.
        while clock.nextWait != .milliseconds(300) { await Task.yield() }
        clock.advance(by: .milliseconds(299))
        #expect(names.validated.isEmpty)
        #expect(form.state.inputs.map(\.isChecking) == [true, false])
        clock.advance(by: .milliseconds(1))
        await names.waitForCall()
        #expect(names.validated == ["ann"])
        names.answer(.success(Self.taken))
        await until(form) { !$0.inputs[0].isChecking }
        #expect(form.validate() == [Form.FieldError(field: "name", message: "is taken")])
        // An edit of another input doesn't check the name again; an edit of the name forgets the error.
        form["other"] = 1
        #expect(!form.state.isValid && !form.state.inputs[0].isChecking)
        form["name"] = "bob"
        #expect(form.state.isValid && form.state.inputs[0].isChecking)
    }

    @Test(arguments: ["", "a"]) func emptyAndInvalidValuesAreNotChecked(_ text: String) async throws {
        let form = form("old")
        form["name"] = .text(text)
        #expect(!form.state.inputs[0].isChecking)
        #expect(clock.nextWait == nil)
        _ = try await client.submit(form, to: "http://h/")
        #expect(names.validated.isEmpty)
    }

    @Test func submissionChecksWithoutAPauseAndSendsNothingIfTheValueIsInvalid() async throws {
        let form = form("ann")
        let (client, names) = (client, names)
        let submission = Task { try await client.submit(form, to: "http://h/") }
        await names.waitForCall()
        let second = Task { try await client.submit(form, to: "http://h/") }
        names.answer(.success(Self.taken))
        #expect(try await submission.value.errors == [Form.FieldError(field: "name", message: "is taken")])
        #expect(try await !second.value.isAccepted)
        // The answer is used again.
        #expect(try await !client.submit(form, to: "http://h/").isAccepted)
        #expect(names.validated == ["ann"])
        form["name"] = "bob"
        await clock.waitForSleepers(1)
        let third = Task { try await client.submit(form, to: "http://h/") }
        await names.waitForCall()
        names.answer(.success(nil))
        #expect(try await third.value.isAccepted)
        #expect(names.validated == ["ann", "bob"])
        #expect(clock.nextWait == nil)
    }

    @Test func formIsSentIfACheckFails() async throws {
        let form = form("ann")
        let (client, names) = (client, names)
        for _ in 0..<2 {
            let submission = Task { try await client.submit(form, to: "http://h/") }
            await names.waitForCall()
            names.answer(.failure(NetworkError(.connect, during: .connect, "no connection")))
            #expect(try await submission.value.isAccepted)
        }
        #expect(names.validated == ["ann", "ann"])
    }

    @Test func cancelledSubmissionDoesNotWaitForACheck() async {
        let form = form("ann")
        let (client, names) = (client, names)
        let submission = Task { try await client.submit(form, to: "http://h/") }
        await names.waitForCall()
        submission.cancel()
        #expect(await Result { try await submission.value }.failure?.isCancelled == true)
        names.answer(.success(nil))
    }

    @Test func answerToAnOldValueIsIgnored() async throws {
        let form = form("ann")
        let (client, names) = (client, names)
        let submission = Task { try await client.submit(form, to: "http://h/") }
        await names.waitForCall()
        form["name"] = "bob"
        names.answer(.success(Self.taken))
        // The new value is checked before it is sent.
        await names.waitForCall()
        names.answer(.success(nil))
        #expect(try await submission.value.isAccepted)
        #expect(form.state.isValid)
    }

    @Test func releasedFormCancelsThePause() async {
        var form: Form? = form()
        form?["name"] = "ann"
        await clock.waitForSleepers(1)
        form = nil
        while clock.nextWait != nil { await Task.yield() }
        #expect(names.validated.isEmpty)
    }
}
