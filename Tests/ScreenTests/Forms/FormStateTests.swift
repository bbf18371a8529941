import BeagleNet
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing
import TestClients

@Suite(.leavesNothing, .beagle(.live), .timeLimit(.minutes(5))) struct FormStateTests {
    private var client: any NetworkClient { Beagle.dependencies.networkClient }

    private func serve(_ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response) throws
        -> LoopbackServer
    {
        let server = try LoopbackServer(answer: answer)
        Beagle.dependencies.environment = BeagleEnvironment(name: "loopback", baseURL: URL(string: server.url))
        return server
    }

    @Test func viewSeesEachStepOfASubmission() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try serve { _ in .sequence([.gate(gate), .response(201, [:], "7")]) }
        defer { server.stop() }
        let form = Form([Form.Input("a", isRequired: true), Form.Input("b", 1)])
        #expect(form.state.word == "editing" && !form.state.isValid && !form.state.hasUnsentEdits)
        #expect(form.state.inputs.map(\.messages) == [["must not be empty"], []])
        _ = try await client.submit(form, to: "/form")
        #expect(form.state.word == "refused" && server.record.requestCount == 0)
        form["a"] = 1
        #expect(form.state.isValid && form.state.hasUnsentEdits)
        #expect(form.state.inputs.map(\.isEdited) == [true, false])
        let client = client
        let submission = Task { try await client.submit(form, to: "/form") }
        await server.until { $0.requestCount == 1 }
        #expect(form.state.isSubmitting && !form.state.hasUnsentEdits)
        gate.open()
        #expect(try await submission.value.isAccepted)
        #expect(form.state.word == "accepted" && !form.state.hasUnsentEdits)
    }

    @Test func statesEndWithTheFormAndBeginWithTheCurrentState() async throws {
        var form: Form? = Form([Form.Input("a", 1)])
        var states = try #require(form?.states).makeAsyncIterator()
        #expect(await states.next(isolation: nil)?.hasUnsentEdits == false)
        for value in Int64(2)..<5 { form?["a"] = .integer(value) }
        #expect(await states.next(isolation: nil)?.hasUnsentEdits == true)
        form = nil
        #expect(await states.next(isolation: nil) == nil)
    }

    @Test func serverErrorDisappearsWithAnEdit() async throws {
        let body = #"{"errors":[{"field":"a","message":"is taken"},{"field":"z","message":"is odd"}]}"#
        let server = try serve { _ in .response(422, [:], body) }
        defer { server.stop() }
        let form = Form([Form.Input("a", 1, validators: [.range(atMost: 5)]), Form.Input("b", 1)])
        _ = try await client.submit(form, to: "/form")
        #expect(form.state.word == "refused" && form.state.isValid)
        #expect(form.state.inputs.map(\.messages) == [["is taken"], []])
        #expect(form.state.messages == ["is odd"])
        form["b"] = 2
        #expect(form.state.inputs[0].messages == ["is taken"])
        form["a"] = 9
        #expect(form.state.inputs[0].messages == ["must be at most 5"])
        form["a"] = 2
        #expect(form.state.inputs[0].messages == [])
    }

    @Test func progressIsPartOfTheState() async throws {
        let server = try serve { _ in .response(204) }
        defer { server.stop() }
        let file = Form.Value.file(FormFile(Data(repeating: 7, count: 1 << 20), filename: "f"))
        let form = Form([Form.Input("f", file)], encoding: .multipart)
        let sent = Lock<[Int64]>([])
        let client = client
        _ = try await client.submit(form, to: "/form") { _ in
            if let progress = form.state.progress { sent.withLock { $0.append(progress.bytesSent) } }
        }
        #expect(sent.withLock { $0.last ?? 0 } > 1 << 20)
        #expect(form.state.progress == nil)
    }

    /// The server acts, and its response is lost.
    @Test func lostResponseIsAFailure() async throws {
        let server = try serve { _ in .close }
        defer { server.stop() }
        let form = Form([Form.Input("a", 1)])
        await #expect(throws: NetworkError.self) { try await client.submit(form, to: "/form") }
        guard case .failed(let error) = form.state.status else { return #expect(Bool(false), "\(form.state.status)") }
        #expect(error.mayHaveReachedServer)
    }

    @Test func cancelledSubmissionIsEditing() async throws {
        let server = try serve { _ in .stall }
        defer { server.stop() }
        let form = Form([Form.Input("a", 1)])
        let client = client
        let submission = Task { try await client.submit(form, to: "/form") }
        await server.until { $0.requestCount == 1 }
        submission.cancel()
        _ = await submission.result
        for await state in form.states where state.word == "editing" { break }
        #expect(!form.state.isSubmitting)
    }

    @Test func formInAnOutboxIsKept() async throws {
        var error = NetworkError(.connect, during: .connect, "no connection")
        error.outboxEntry = "1"
        let kept = error
        let client = StubClient { _ in throw kept }
        let form = Form([Form.Input("a", 1)])
        await #expect(throws: NetworkError.self) { try await client.submit(form, to: "http://h/") }
        #expect(form.state.word == "kept")
    }

    // MARK: edits during a submission

    @Test func editDuringASubmissionIsKeptAndReported() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try serve { request in
            request.target == "/form" ? .sequence([.gate(gate), .response(201, [:], "7")]) : .response(204)
        }
        let store = Form.MemoryStore()
        let form = Form([Form.Input("a", 1)], group: "g", store: store)
        let client = client
        let first = Task { try await client.submit(form, to: "/form") }
        await server.until { $0.requestCount == 1 }
        form["a"] = 2
        #expect(form.state.isSubmitting && form.state.hasUnsentEdits)
        let second = Task.immediate { try await client.submit(form, to: "/form") }
        gate.open()
        for task in [first, second] {
            let reply = try await task.value
            #expect(reply.content == .json(7) && reply.hasUnsentEdits)
        }
        #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == [#"{"a":1}"#])
        #expect(form["a"] == 2 && form.state.hasUnsentEdits)
        #expect(store.fields(of: "g") == [FormField("a", 2)])
        let third = try await client.submit(form, to: "/other")
        #expect(third.isAccepted && !third.hasUnsentEdits)
        #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == [#"{"a":1}"#, #"{"a":2}"#])
        #expect(store.fields(of: "g").isEmpty)
    }

    @Test(arguments: [true, false]) func revertedEditIsNotReported(isReverted: Bool) async throws {
        let gate = try LoopbackServer.Gate()
        let server = try serve { _ in .sequence([.gate(gate), .response(422, [:], #"{"errors":["no"]}"#)]) }
        let form = Form([Form.Input("a", 1)])
        let client = client
        let submission = Task { try await client.submit(form, to: "/form") }
        await server.until { $0.requestCount == 1 }
        form["a"] = 2
        if isReverted { form["a"] = 1 }
        gate.open()
        #expect(try await submission.value.hasUnsentEdits == !isReverted)
    }
}

extension Form.State {
    fileprivate var word: String {
        switch status {
        case .editing: "editing"
        case .submitting: "submitting"
        case .accepted: "accepted"
        case .refused: "refused"
        case .kept: "kept"
        case .failed: "failed"
        }
    }
}
