import BeagleNet
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing
import TestClients

/// Forms of the default client over real sockets.
@Suite(
    .leavesNothing,
    .beagle(.live) {
        $0.logger = MemoryLogger()
        $0.interceptors = [
            LogInterceptor(), RetryInterceptor(backoff: Backoff(base: .zero, limit: 3)), OriginPolicyInterceptor(),
            StatusInterceptor(),
        ]
    },
    .timeLimit(.minutes(5))
) struct FormSubmitTests {
    private var client: any NetworkClient { Beagle.dependencies.networkClient }

    private func serve(_ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response) throws
        -> LoopbackServer
    {
        let server = try LoopbackServer(answer: answer)
        Beagle.dependencies.environment = BeagleEnvironment(name: "loopback", baseURL: URL(string: server.url))
        return server
    }

    private func keys(_ server: LoopbackServer) -> [String?] { server.requests.map { $0["Idempotency-Key"] } }

    // MARK: replies

    private static let successDoesNotDependOnTheBodyArguments: [(Int, String, Form.Reply.Content)] = [
        (200, "{\"_beagleAction_\":\"beagle:popView\"}", .action(["_beagleAction_": "beagle:popView"])),
        (201, "{\"id\":7}", .json(["id": 7])), (200, "[]", .json([])),
        (200, "{\"_beagleAction_\":1}", .json(["_beagleAction_": 1])),
        (200, "", .empty), (202, "", .empty), (204, "", .empty), (205, "", .empty),
        (200, "<html>", .other), (200, "{\"cut", .other),
    ]

    @Test(arguments: Self.successDoesNotDependOnTheBodyArguments)
    func successDoesNotDependOnTheBody(_ status: Int, _ body: String, _ content: Form.Reply.Content) async throws {
        let server = try serve { _ in .response(status, [:], body) }
        let reply = try await client.submit(Form([Form.Input("a", 1)]), to: "/form")
        #expect(reply.content == content)
        #expect(reply.isAccepted && reply.errors.isEmpty)
        #expect(reply.response?.data == Data(body.utf8))
        #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["{\"a\":1}"])
    }

    @Test(arguments: [400, 409, 422]) func errorResponseNamesTheInputs(_ status: Int) async throws {
        let body = #"{"errors":[{"field":"email","message":"is taken"},{"field":"x","message":"is odd"}]}"#
        let server = try serve { _ in .response(status, [:], body) }
        defer { server.stop() }
        let reply = try await client.submit(Form([Form.Input("email", "a@b")]), to: "/form")
        #expect(!reply.isAccepted)
        #expect(reply.messages(for: "email") == ["is taken"])
        #expect(reply.messages(for: nil) == ["is odd"])
        #expect(reply.errors.map(\.serverName) == [nil, "x"])
        #expect(reply.response?.status.code == status)
    }

    private static let otherErrorStatusIsAFailureArguments: [(Int, String)] = [
        (400, "no"), (422, "{}"), (404, #"{"errors":[{"field":"a","message":"m"}]}"#), (409, ""),
    ]

    @Test(arguments: Self.otherErrorStatusIsAFailureArguments)
    func otherErrorStatusIsAFailure(_ status: Int, _ body: String) async throws {
        let server = try serve { _ in .response(status, [:], body) }
        defer { server.stop() }
        let error = await #expect(throws: NetworkError.self) { try await client.submit(Form(), to: "/form") }
        #expect(error?.kind == .status && error?.data == Data(body.utf8))
    }

    @Test func appReadsItsOwnErrorFormat() async throws {
        let server = try serve { request in .response(418, [:], request.target == "/plain" ? "" : "email=is taken") }
        Beagle.dependencies.fieldErrorReader = Form.FieldErrorReader { response, inputs in
            let words = String(decoding: response.data, as: UTF8.self).split(separator: "=").map(String.init)
            guard response.status.code == 418, words.count == 2, inputs.contains(words[0]) else { return nil }
            return [Form.FieldError(field: words[0], message: words[1])]
        }
        let form = Form([Form.Input("email", "a@b")])
        #expect(
            try await client.submit(form, to: "/form").errors == [Form.FieldError(field: "email", message: "is taken")]
        )
        await #expect(throws: NetworkError.self) { try await client.submit(form, to: "/plain") }
        withExtendedLifetime(server) {}
    }

    @Test func incompleteFormIsNotSent() async throws {
        let server = try serve { _ in .response(200) }
        let form = Form([Form.Input("a", isRequired: true)])
        let reply = try await client.submit(form, to: "/form")
        #expect(reply.errors == [Form.FieldError(field: "a", message: "must not be empty")])
        #expect(reply.response == nil && !reply.isAccepted)
        #expect(server.record.connections == 0)
    }

    @Test func stubClientSubmitsForms() async throws {
        let store = Form.MemoryStore()
        store.save([FormField("page", 1)], replacing: [], in: "g")
        let form = Form([Form.Input("a", 1)], group: "g", store: store, sendsIdempotencyKey: true)
        let client = StubClient { request in
            guard case .submitForm(let data) = request.type else { throw CancellationError() }
            #expect(data.fields == [FormField("page", 1), FormField("a", 1)])
            #expect(request.additionalData?.headers["Idempotency-Key"]?.count == 38)
            return try NetworkResponse(json: ["id": 1])
        }
        #expect(try await client.submit(form, to: "http://h/").content == .json(["id": 1]))
        #expect(store.fields(of: "g").isEmpty)
    }

    /// The ways to submit a form.
    enum Way: CaseIterable {
        case executeRequest, submit, submission
    }

    /// The server closes a reused connection after it has read the form, so it may or may not have acted on it.
    @Test(arguments: [FormRemoteAction.Method.post, .put, .delete], Way.allCases)
    func aFormIsSentOnceWhenItsConnectionIsLost(_ method: FormRemoteAction.Method, _ way: Way) async throws {
        let server = try serve { request in
            request.target.hasPrefix("/form") && request.connection == 1 ? .close : .response(204)
        }
        _ = try await client.executeRequest(Request(url: URL(string: server.url + "/first")!, type: .fetchComponent))
        let form = Form([Form.Input("a", 1)], method: method)
        var error: NetworkError?
        switch way {
        case .executeRequest:
            let data = Request.FormData(method: method, fields: [FormField("a", 1)])
            let request = Request(url: URL(string: server.url + "/form")!, type: .submitForm(data))
            error = await #expect(throws: NetworkError.self) { try await client.executeRequest(request) }
        case .submit:
            error = await #expect(throws: NetworkError.self) { try await client.submit(form, to: "/form") }
        case .submission:
            for await state in client.submission(of: form, to: "/form").states {
                guard case .error(.network(let failure)) = state else { continue }
                error = failure
                break
            }
        }
        #expect(error?.kind == .network && error?.mayHaveReachedServer == true && error?.isRetryable == false)
        #expect(server.requests.map(\.connection) == [1, 1])
    }

    // MARK: groups

    @Test func aGroupIsKeptUntilTheFormIsAccepted() async throws {
        let count = Lock(0)
        let server = try serve { _ in
            count.withLock { $0 += 1 }
            return switch count.withLock({ $0 }) {
            case 1: .response(409)
            case 2: .response(422, [:], #"{"errors":["no"]}"#)
            default: .response(204)
            }
        }
        let store = Form.MemoryStore()
        let form = Form([Form.Input("name", "Ana"), Form.Input("pin", "1234")], group: "g", store: store)
        await #expect(throws: NetworkError.self) { try await client.submit(form, to: "/form") }
        #expect(store.fields(of: "g") == [FormField("name", "Ana")])
        _ = try await client.submit(form, to: "/form")
        #expect(store.fields(of: "g") == [FormField("name", "Ana")])
        _ = try await client.submit(form, to: "/form")
        #expect(store.fields(of: "g").isEmpty)
        #expect(server.record.requestCount == 3)
    }

    @Test func formIsSentEvenIfItsDraftCannotBeStored() async throws {
        struct FullStore: Form.Store {
            static let error = NetworkError(.file, during: .file, "the disk is full")
            func fields(of group: String) -> [FormField] { [] }
            func save(_: [FormField], replacing: Set<String>, in: String) throws(NetworkError) { throw Self.error }
            func clear(_: String) throws(NetworkError) { throw Self.error }
        }
        let server = try serve { _ in .response(204) }
        defer { server.stop() }
        let form = Form([Form.Input("a", "typed")], group: "g", store: FullStore())
        #expect(try await client.submit(form, to: "/form").content == .empty)
        let messages = try #require(Beagle.dependencies.logger as? MemoryLogger).messages.filter {
            $0.contains("the disk")
        }
        #expect(messages.count == 2)
        #expect(messages.allSatisfy { !$0.contains("typed") })
    }

    @Test func formWithAnUnreadableGroupIsNotSent() async throws {
        let server = try serve { _ in .response(204) }
        let folder = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let form = Form(group: "g", store: Form.DiskStore(directory: folder.path))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try Data("{".utf8).write(to: folder.appending(path: "g.json"))
        let error = await #expect(throws: NetworkError.self) { try await client.submit(form, to: "/form") }
        #expect(error?.kind == .decoding)
        #expect(server.record.connections == 0)
    }

    // MARK: once at a time

    @Test func aSecondTapJoinsTheFirst() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try serve { _ in .sequence([.gate(gate), .response(201, [:], "7")]) }
        let form = Form([Form.Input("a", 1)])
        let client = client
        let first = Task.immediate { try await client.submit(form, to: "/form") }
        await server.until { $0.requestCount == 1 }
        let second = Task.immediate { try await client.submit(form, to: "/form") }
        let left = Task.immediate { try await client.submit(form, to: "/form") }
        left.cancel()
        #expect(await Result { try await left.value }.failure?.isCancelled == true)
        gate.open()
        #expect(try await first.value.content == .json(7))
        #expect(try await second.value.content == .json(7))
        #expect(server.record.requestCount == 1)
        // A finished submission is no longer joined.
        form["a"] = 1
        #expect(try await client.submit(form, to: "/form").content == .json(7))
        #expect(server.record.requestCount == 2)
    }

    @Test func acceptedFormIsNotSentAgainUntilEdited() async throws {
        let count = Lock(0)
        let server = try serve { _ in
            .response(200, [:], "\(count.withLock { count in (count += 1, count).1 })")
        }
        let store = Form.MemoryStore()
        store.save([FormField("page", 1)], replacing: [], in: "g")
        let form = Form([Form.Input("a", 1)], group: "g", store: store)
        func submit(to path: String = "/form", headers: [String: String] = [:]) async throws -> Form.Reply.Content {
            try await client.submit(form, to: path, headers: headers).content
        }
        for _ in 0..<3 { #expect(try await submit() == .json(1)) }
        #expect(server.record.requestCount == 1)
        form["a"] = 1
        #expect(try await submit() == .json(2))
        #expect(try await submit(to: "/other") == .json(3))
        #expect(try await submit(to: "/other", headers: ["X-A": "b"]) == .json(4))
        #expect(try await submit(to: "/other", headers: ["X-A": "b"]) == .json(4))
        form.additionalData = ["b": 2]
        #expect(try await submit() == .json(5))
        form.allowResubmission()
        #expect(try await submit() == .json(6))
        #expect(try await submit() == .json(6))
        #expect(server.record.requestCount == 6)
    }

    @Test func formByGETIsSentEveryTime() async throws {
        let server = try serve { _ in .response(204) }
        let search = Form([Form.Input("q", "a")], method: .get)
        for _ in 0..<2 { _ = try await client.submit(search, to: "/search") }
        #expect(server.record.requestCount == 2)
    }

    @Test func acceptedFormIsSentAgainForAnotherUser() async throws {
        let server = try serve { _ in .response(204) }
        let auth = AuthInterceptor<String>(.init(load: { "token" }, attach: { $1.headerFields[.authorization] = $0 }))
        Beagle.dependencies.interceptors.add(auth)
        let form = Form([Form.Input("a", 1)])
        for _ in 0..<2 { _ = try await client.submit(form, to: "/form") }
        #expect(server.record.requestCount == 1)
        auth.reset()
        _ = try await client.submit(form, to: "/form")
        #expect(server.record.requestCount == 2)
    }

    @Test func formEditedWhileBeingSentIsSentAgain() async throws {
        let form = Form([Form.Input("a", 1)])
        let server = try serve { request in
            if request.body == Data(#"{"a":1}"#.utf8) { form["a"] = 2 }
            return .response(204)
        }
        for _ in 0..<3 { _ = try await client.submit(form, to: "/form") }
        #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == [#"{"a":1}"#, #"{"a":2}"#])
    }

    @Test func formToAnotherDestinationDoesNotJoinARunningSubmission() async throws {
        let gate = try LoopbackServer.Gate()
        let server = try serve { _ in .sequence([.gate(gate), .response(204)]) }
        let form = Form([Form.Input("a", 1)])
        let client = client
        let first = Task.immediate { try await client.submit(form, to: "/form") }
        await server.until { $0.requestCount == 1 }
        let elsewhere = await #expect(throws: NetworkError.self) { try await client.submit(form, to: "/other") }
        #expect(elsewhere?.kind == .badRequest)
        gate.open()
        _ = try await first.value
        #expect(server.record.requestCount == 1)
    }

    @Test func lastCancelledCallerCancelsTheRequest() async throws {
        let server = try serve { request in request.connection == 1 ? .stall : .response(204) }
        let form = Form([Form.Input("a", 1)])
        let client = client
        let tasks = (0..<2).map { _ in Task.immediate { try await client.submit(form, to: "/form") } }
        await server.until { $0.requestCount == 1 }
        for task in tasks {
            task.cancel()
            #expect(await Result { try await task.value }.failure?.isCancelled == true)
        }
        #expect(await server.until { $0.openConnections == 0 })
        #expect(try await client.submit(form, to: "/form").content == .empty)
        let cancelled = Task { try await client.submit(form, to: "/form") }
        cancelled.cancel()
        _ = await Result { try await cancelled.value }
        #expect(try await client.submit(form, to: "/form").content == .empty)
    }

    // MARK: keys

    @Test func possiblyAcceptedFormWithoutAKeyIsNotRetried() async throws {
        let server = try serve { _ in .close }
        let error = await #expect(throws: NetworkError.self) { try await client.submit(Form(), to: "/form") }
        #expect(error?.mayHaveReachedServer == true)
        #expect(server.record.requestCount == 1)
        #expect(keys(server) == [nil])
    }

    /// The server acts on the first request, and its response is lost.
    @Test(arguments: [Request.FormData.Encoding.json, .multipart]) func keyLetsTheServerDetectARetry(
        _ encoding: Request.FormData.Encoding
    ) async throws {
        let done = Lock<[String: Int]>([:])
        let server = try serve { request in
            let (count, isNew) = done.withLock { done in
                let key = request["Idempotency-Key"] ?? ""
                defer { done[key] = done[key] ?? done.count + 1 }
                return (done.count, done[key] == nil)
            }
            return isNew ? .close : .response(201, [:], "\(count)")
        }
        let form = Form([Form.Input("a", 1)], encoding: encoding, sendsIdempotencyKey: true)
        #expect(try await client.submit(form, to: "/form").content == .json(1))
        #expect(server.requests.count == 2)
        #expect(Set(keys(server)).count == 1)
        // A server may compare the bytes under one key.
        #expect(Set(server.requests.map(\.body)).count == 1)
        let key = try #require(server.requests[0]["Idempotency-Key"])
        #expect(key.hasPrefix("\"") && key.hasSuffix("\"") && key.count == 38)
    }

    @Test(arguments: [Request.FormData.Encoding.json, .multipart]) func keyIsReusedUntilSuccessOrChange(
        _ encoding: Request.FormData.Encoding
    ) async throws {
        let count = Lock(0)
        let server = try serve { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .response([0, 409, 409, 204, 422, 204][number], [:], number == 4 ? #"{"errors":["no"]}"# : "")
        }
        let form = Form([Form.Input("a", 1)], encoding: encoding, sendsIdempotencyKey: true)
        for _ in 0..<2 { await #expect(throws: NetworkError.self) { try await client.submit(form, to: "/form") } }
        _ = try await client.submit(form, to: "/form")
        form.allowResubmission()
        _ = try await client.submit(form, to: "/form")
        form["a"] = 2
        _ = try await client.submit(form, to: "/form")
        let sent = keys(server).map { $0 ?? "" }
        #expect(sent[0] == sent[1] && sent[1] == sent[2])
        #expect(Set(sent).count == 3 && !sent.contains(""))
        #expect(Set(server.requests.prefix(3).map(\.body)).count == 1)
    }

    @Test func customKeyTakesPrecedence() async throws {
        let server = try serve { _ in .response(204) }
        let form = Form(sendsIdempotencyKey: true)
        _ = try await client.submit(form, to: "/form", headers: ["idempotency-key": "\"own\""])
        _ = try await client.submit(Form(method: .put, sendsIdempotencyKey: true), to: "/form")
        #expect(keys(server) == ["\"own\"", nil])
    }

    // MARK: PATCH

    /// The server acts on the first request, and its response is lost.
    @Test(arguments: [Request.FormData.Encoding.json, .urlEncoded, .multipart])
    func formIsSentByPATCHAndRepeatedOnlyWithAKey(_ encoding: Request.FormData.Encoding) async throws {
        let server = try serve { request in request.target == "/plain" ? .response(204) : .close }
        defer { server.stop() }
        for (target, hasKey, count) in [("/plain", true, 1), ("/lost", false, 1), ("/lost", true, 3)] {
            let before = server.requests.count
            let form = Form(
                [Form.Input("a", 1)],
                encoding: encoding,
                sendsIdempotencyKey: hasKey,
                httpData: .init(method: .PATCH)
            )
            let submission = client.submission(of: form, to: target, headers: ["X-A": "b"])
            for await state in submission.states { if case .error = state { break } }
            let sent = server.requests.dropFirst(before)
            #expect(sent.map(\.method) == Array(repeating: "PATCH", count: count))
            #expect(sent.allSatisfy { ($0["Idempotency-Key"] != nil) == hasKey && $0["X-A"] == "b" })
            #expect(sent.allSatisfy { !$0.body.isEmpty })
            #expect(submission.canRetry == (target == "/lost" && hasKey))
        }
    }

    @Test(arguments: [FormRemoteAction.Method.get, .delete])
    func formInTheQueryIsNotSentByPATCH(_ method: FormRemoteAction.Method) async throws {
        let server = try serve { _ in .response(204) }
        defer { server.stop() }
        let form = Form([Form.Input("a", 1)], method: method, httpData: .init(method: .PATCH))
        let error = await #expect(throws: NetworkError.self) { try await client.submit(form, to: "/form") }
        #expect(error?.kind == .badRequest && error?.message.contains("PATCH") == true)
        #expect(server.record.connections == 0)
    }

    // MARK: files

    @Test func photoUploadReportsProgress() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "beagle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (path, photo) = (folder.appending(path: "photo.png").path, Data(repeating: 7, count: 1 << 20))
        try photo.write(to: URL(filePath: path))
        let server = try serve { request in
            request.target == "/form" ? .response(307, ["Location": "/there"]) : .response(201)
        }
        let steps = Lock<[TransferRequest.Progress]>([])
        let form = Form(
            [Form.Input("title", "Sea"), Form.Input("photo", .file(FormFile(path: path, contentType: "image/png")))],
            encoding: .multipart
        )
        _ = try await client.submit(form, to: "/form") { step in steps.withLock { $0.append(step) } }
        #expect(server.requests.map(\.target) == ["/form", "/there"])
        for request in server.requests {
            #expect(request["Content-Length"] == "\(request.body.count)")
            #expect(request["Transfer-Encoding"] == nil)
            #expect(request.body.contains(photo))
        }
        let last = try #require(steps.withLock { $0.last })
        #expect(last.bytesSent == Int64(server.requests[1].body.count))
        #expect(last.bytesToSend == last.bytesSent)
    }

    @Test func formWithAFileHasNoTimeLimit() async throws {
        let limits = Lock<[(attempt: Duration??, call: Duration?)]>([])
        let client = StubClient { request in
            limits.withLock { $0.append((request.options.map(\.timeouts.total), request.timeout)) }
            return NetworkResponse()
        }
        let file = Form.Value.file(FormFile(Data(), filename: "f"))
        let form = Form([Form.Input("f", file)], encoding: .multipart)
        _ = try await client.submit(form, to: "http://h/")
        form.allowResubmission()
        _ = try await client.submit(form, to: "http://h/", timeout: .seconds(3))
        _ = try await client.submit(Form(), to: "http://h/")
        #expect(limits.withLock { $0.map(\.attempt) } == [.some(nil), nil, nil])
        #expect(limits.withLock { $0.map(\.call) } == [nil, .seconds(3), nil])
    }
}
