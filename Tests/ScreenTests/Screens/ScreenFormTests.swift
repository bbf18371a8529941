import BeagleNet
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

@Suite(.leavesNothing, .beagle(.live), .timeLimit(.minutes(5))) struct ScreenFormTests {
    private var client: any NetworkClient { Beagle.dependencies.networkClient }

    private func serve(_ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response) throws
        -> LoopbackServer
    {
        let server = try LoopbackServer(answer: answer)
        Beagle.dependencies.environment = BeagleEnvironment(name: "loopback", baseURL: URL(string: server.url))
        return server
    }

    private func forms(_ json: String, _ context: ScreenContext = ScreenContext()) throws -> [ScreenForm] {
        try ScreenForm.forms(in: try JSONValue(parsing: json), context: context)
    }

    private func body(_ server: LoopbackServer) throws -> JSONValue {
        try JSONValue(parsing: try #require(server.requests.last).body)
    }

    // MARK: simple forms

    private static func simple(
        _ request: String,
        data: String = #"{"name":"@{form.name}","mail":"@{form.contact.mail}","terms":true}"#,
        error: String = "@{condition(isEmpty(form.name), 'name?', '')}"
    ) -> String {
        #"""
        {"_beagleComponent_":"beagle:screenComponent","child":{"_beagleComponent_":"beagle:simpleForm",
         "context":{"id":"form","value":{"name":"","contact":{"mail":"a@b"}}},
         "onSubmit":[{"_beagleAction_":"beagle:alert"},{"_beagleAction_":"beagle:sendRequest",\#(request),"data":\#(data)}],
         "onValidationError":[{"_beagleAction_":"beagle:alert","message":"no"}],
         "children":[{"_beagleComponent_":"beagle:container","children":[
          {"_beagleComponent_":"beagle:textInput","value":"@{form.name}","error":"\#(error)"},
          {"_beagleComponent_":"beagle:textInput","value":"@{form.contact.mail}"}]},
          {"_beagleComponent_":"beagle:button","onPress":[{"_beagleAction_":"beagle:submitForm"}]}]}}
        """#
    }

    @Test func simpleFormIsValidatedByItsScreenAndSentOnce() async throws {
        let server = try serve { request in
            request["X-A"] == "Ada" ? .response(201, [:], "7") : .response(400)
        }
        defer { server.stop() }
        let json = Self.simple(#""url":"/users/@{user.id}","method":"PUT","headers":{"X-A":"@{user.name}"}"#)
        let screen = try #require(try forms(json, ScreenContext(["user": ["id": 7, "name": "Ada"]])).first)
        #expect(screen.form.inputs.map(\.name) == ["mail", "name", "terms"])
        #expect(screen.form.validate() == [Form.FieldError(field: "name", message: "name?")])
        #expect(screen.validationErrorActions.map(\.type) == ["beagle:alert"])
        #expect(try await !client.submit(screen.form, to: screen.target, headers: screen.headers).isAccepted)
        #expect(server.record.connections == 0)
        screen.form["name"] = "@{user.id}"
        for _ in 0..<2 {
            let reply = try await client.submit(screen.form, to: screen.target, headers: screen.headers)
            #expect(reply.content == .json(7))
        }
        #expect(server.requests.map { "\($0.method) \($0.target)" } == ["PUT /users/7"])
        // The values of the inputs are data.
        #expect(try body(server) == ["mail": "a@b", "name": "@{user.id}", "terms": true])
        #expect(screen.context.values["form"] == ["name": "@{user.id}", "contact": ["mail": "a@b"]])
    }

    @Test func submitFormIsTheRequestOfItsForm() async throws {
        let server = try serve { _ in .response(204) }
        defer { server.stop() }
        let screen = try #require(try forms(Self.simple(#""url":"/u","method":"patch","headers":{"X-A":"b"}"#)).first)
        let action = try #require(ScreenAction(["_beagleAction_": "beagle:submitForm"]))
        let request = try #require(try action.request(in: ScreenContext(), form: screen))
        _ = try await client.executeRequest(request)
        #expect(server.requests.map(\.method) == ["PATCH"])
        #expect(server.requests.first?["X-A"] == "b")
        #expect(try body(server)["mail"] == "a@b")
    }

    @Test func wholeContextHasAnInputForEachMember() throws {
        let json = Self.simple(#""url":"/u","method":"POST""#, data: #""@{user}""#)
        let context = ScreenContext(["user": ["name": "Ada", "tags": ["a", 1], "none": nil]])
        let screen = try #require(try forms(json, context).first)
        screen.form["name"] = "Bob"
        #expect(screen.form.inputs.map(\.value) == ["Bob", .empty, ["a", 1]])
        #expect(screen.context.values["user"] == ["name": "Bob", "tags": ["a", 1], "none": nil])
    }

    @Test func givenContextReplacesTheDeclaredOne() throws {
        let json = Self.simple(#""url":"/u""#)
        let screen = try #require(try forms(json, ScreenContext(["form": ["name": "Ada"]])).first)
        #expect(screen.form["name"] == "Ada" && screen.form["mail"] == .empty)
        #expect(screen.form.method == .get)
    }

    private static let errorOfATextInputIsReportedArguments: [(String, [Form.FieldError])] = [
        ("", []), ("@{null}", []), ("no", [Form.FieldError(field: "name", message: "no")]),
        // It can't be evaluated, and the server decides.
        ("@{other}", []),
    ]

    @Test(arguments: Self.errorOfATextInputIsReportedArguments)
    func errorOfATextInputIsReported(_ error: String, _ expected: [Form.FieldError]) throws {
        let screen = try #require(try forms(Self.simple(#""url":"/u""#, error: error)).first)
        #expect(screen.form.validate() == expected)
    }

    @Test func errorWithoutAnInputIsAboutTheForm() throws {
        let json = Self.simple(#""url":"/u""#, data: #"{"a":1}"#, error: "no")
        let screen = try #require(try forms(json).first)
        #expect(screen.form.validate() == [Form.FieldError(field: nil, message: "no")])
        #expect(screen.form.state.messages == ["no"] && !screen.form.state.isValid)
    }

    private static let unsupportedFormIsAnErrorArguments: [(String, NetworkError.Kind)] = [
        (simple(#""url":"/u""#, data: "[1]"), .unsupported),
        (simple(#""url":"/u""#, data: #""@{app.name}""#), .unsupported),
        (simple(#""url":"/u""#, data: #"{"a":"@{x}"}"#), .badRequest), (simple(#""url":"/@{x}""#), .badRequest),
        (simple(#""url":"/u","method":"HEAD""#), .badRequest),
        (page.replacingOccurrences(of: "POST", with: "PATCH"), .badRequest),
    ]

    @Test(arguments: Self.unsupportedFormIsAnErrorArguments)
    func unsupportedFormIsAnError(_ json: String, _ kind: NetworkError.Kind) {
        let context = ScreenContext(["app": ["name": "demo", "mail": nil]])
        let error = #expect(throws: NetworkError.self) { try forms(json, context) }
        #expect(error?.kind == kind)
    }

    /// Objects in the data, as screens of real apps have them.
    private static let nested = #"""
        {"_beagleComponent_":"beagle:container","context":{"id":"app","value":{"version":3}},"children":[
         {"_beagleComponent_":"beagle:simpleform",
          "context":{"id":"form","value":{"data":{"user":{"name":"","password":""},"tags":["a"]},"showErrors":false}},
          "onSubmit":[
           {"_beagleAction_":"beagle:setContext","contextId":"form","path":"showErrors","value":true},
           {"_beagleAction_":"beagle:sendRequest","url":"/u","method":"POST","data":{"account":"@{form.data}",
            "items":[{"id":7,"count":"@{form.count}"},[],"x"],"version":"@{app.version}","none":{}}}],
          "children":[{"_beagleComponent_":"beagle:container","context":{"id":"rules","value":{"length":6}},"children":[
           {"_beagleComponent_":"beagle:container","context":{"id":"app","value":{"name":"inner"}},"children":[
            {"_beagleComponent_":"beagle:textInput","value":"@{form.data.user.name}",
             "error":"@{condition(isEmpty(form.data.user.name), app.name, '')}"},
            {"_beagleComponent_":"beagle:textInput","value":"@{form.data.user.password}","type":"PASSWORD",
             "error":"@{condition(lt(length(form.data.user.password), rules.length), 'short', '')}"},
            {"_beagleComponent_":"beagle:textInput","value":"@{rules.length}","error":"@{rules.message}"}]}]}]}]}
        """#

    @Test func objectsInTheDataHaveAnInputForEachValue() async throws {
        let replies = Lock([422, 201][...])
        let server = try serve { _ in
            replies.withLock { $0.popFirst() } == 422
                ? .response(422, [:], #"{"errors":[{"pointer":"/account/user/name","detail":"is taken"}]}"#)
                : .response(201)
        }
        defer { server.stop() }
        let screen = try #require(try forms(Self.nested).first)
        #expect(
            screen.form.inputs.map(\.name) == [
                "account.tags", "account.user.name", "account.user.password", "items[0].count", "items[0].id",
                "items[1]",
                "items[2]", "version",
            ]
        )
        #expect(screen.form.inputs.filter(\.isSecret).map(\.name) == ["account.user.password"])
        #expect(
            screen.form.validate() == [
                Form.FieldError(field: "account.user.name", message: "inner"),
                Form.FieldError(field: "account.user.password", message: "short"),
            ]
        )
        screen.form["account.user.name"] = "Ada"
        screen.form["account.user.password"] = "123456"
        screen.form["items[0].count"] = 2
        screen.form["version"] = nil
        screen.form["extra"] = true
        #expect(screen.context.values["form"]?["data"]?["user"] == ["name": "Ada", "password": "123456"])
        let refused = try await client.submit(screen.form, to: screen.target)
        #expect(refused.messages(for: "account.user.name") == ["is taken"])
        screen.form["account.user.name"] = "Bob"
        #expect(try await client.submit(screen.form, to: screen.target).isAccepted)
        #expect(
            try body(server) == [
                "account": ["tags": ["a"], "user": ["name": "Bob", "password": "123456"]],
                "items": [["id": 7, "count": 2], [], "x"], "none": [:], "extra": true,
            ]
        )
    }

    @Test func secondValueOfANameIsSentAsItIs() throws {
        let data = #"{"a.b":1,"a":{"b":2}}"#
        let screen = try #require(try forms(Self.simple(#""url":"/u","method":"POST""#, data: data)).first)
        #expect(screen.form.inputs.map(\.name) == ["a.b"])
        screen.form["a.b"] = 3
        #expect(try screen.form.data().fields.map { "\($0.name)=\($0.value)" } == [#"a={"b":3}"#, "a.b=1"])
    }

    @Test func objectsAreFlatInAQuery() throws {
        let screen = try #require(try forms(Self.simple(#""url":"/u""#, data: #"{"a":{"b":[1,2]}}"#)).first)
        #expect(try screen.form.data().fields.map { "\($0.name)=\($0.value)" } == ["a.b=1", "a.b=2"])
    }

    @Test func formOfTheAppAloneIsNotReturned() throws {
        let custom = #"{"_beagleComponent_":"beagle:simpleForm","onSubmit":[{"_beagleAction_":"custom:a"}]}"#
        #expect(try forms(custom).isEmpty)
        #expect(try forms(#"{"_beagleComponent_":"beagle:form"}"#).isEmpty)
        // A form in a context isn't shown.
        #expect(try forms(#"{"context":{"id":"a","value":\#(Self.simple(#""url":"/u""#))}}"#).isEmpty)
    }

    // MARK: forms of Beagle 1.x

    private static let page = #"""
        {"_beagleComponent_":"beagle:container","children":[{"_beagleComponent_":"beagle:form","group":"signup",
         "shouldStoreFields":true,"additionalData":{"source":"@{app.name}"},
         "onSubmit":[{"_beagleAction_":"beagle:formRemoteAction","path":"/signup","method":"POST"}],
         "child":{"_beagleComponent_":"beagle:container","children":[
          {"_beagleComponent_":"beagle:formInput","name":"email","required":true,"validator":"email",
           "errorMessage":"e-mail?","child":{"_beagleComponent_":"custom:field","value":"@{app.mail}"}},
          {"_beagleComponent_":"beagle:formInput","name":"age","validator":"adult","child":{}},
          {"_beagleComponent_":"beagle:formInput","name":"code","validator":"unknown","child":{}},
          {"_beagleComponent_":"beagle:formSubmit","child":{}}]}}]}
        """#

    @Test func namedValidatorsCheckTheInputs() throws {
        let logger = MemoryLogger()
        Beagle.dependencies.logger = logger
        Beagle.dependencies.formValidators["adult"] = .range(atLeast: 18)
        let screen = try #require(try forms(Self.page, ScreenContext(["app": ["name": "demo", "mail": nil]])).first)
        #expect(screen.form.validate() == [Form.FieldError(field: "email", message: "e-mail?")])
        screen.form["email"] = "a"
        screen.form["age"] = "17"
        #expect(screen.form.validate().map(\.message) == ["e-mail?", "must be at least 18"])
        screen.form["email"] = "a@b"
        screen.form["age"] = ""
        #expect(screen.form.validate().isEmpty)
        #expect(screen.storesFields && screen.form.group == "signup")
        #expect(logger.messages.contains { $0.contains("\"unknown\"") })
    }

    @Test func serverErrorsBelongToTheInputsOfTheScreen() async throws {
        let replies = Lock([422, 201][...])
        let server = try serve { _ in
            replies.withLock { $0.popFirst() } == 422
                ? .response(422, [:], #"{"errors":[{"field":"email","message":"is taken"}]}"#)
                : .response(201, [:], #"{"_beagleAction_":"beagle:popView"}"#)
        }
        defer { server.stop() }
        let store = Form.MemoryStore()
        Beagle.dependencies.formStore = store
        store.save([FormField("page", 1)], replacing: [], in: "signup")
        let screen = try #require(try forms(Self.page, ScreenContext(["app": ["name": "demo", "mail": "a@b"]])).first)
        let refused = try await client.submit(screen.form, to: screen.target)
        #expect(refused.messages(for: "email") == ["is taken"])
        #expect(screen.form.state.inputs[0].messages == ["is taken"])
        #expect(try body(server) == ["page": 1, "email": "a@b", "age": nil, "code": nil, "source": "demo"])
        screen.form["email"] = "b@b"
        let accepted = try await client.submit(screen.form, to: screen.target)
        #expect(accepted.content == .action(["_beagleAction_": "beagle:popView"]))
        #expect(store.fields(of: "signup").isEmpty)
    }

    /// The server acts, and its response is lost.
    @Test func formIsSentOnceIfItsResponseIsLost() async throws {
        let server = try serve { _ in .close }
        defer { server.stop() }
        let screen = try #require(try forms(Self.page, ScreenContext(["app": ["name": "demo", "mail": "a@b"]])).first)
        let error = await #expect(throws: NetworkError.self) { try await client.submit(screen.form, to: screen.target) }
        #expect(error?.mayHaveReachedServer == true)
        #expect(server.record.requestCount == 1)
    }

    @Test func nestedFormsHaveTheirOwnInputs() throws {
        let inner = #"""
            {"_beagleComponent_":"beagle:form","onSubmit":{"_beagleAction_":"beagle:formRemoteAction","path":"/b"},
             "child":{"_beagleComponent_":"beagle:formInput","name":"b"}}
            """#
        let outer = #"""
            {"_beagleComponent_":"beagle:form",
             "action":{"_beagleAction_":"beagle:formRemoteAction","path":"/a","method":"GET"},
             "child":{"children":[{"_beagleComponent_":"beagle:formInput","name":"a"},\#(inner)]}}
            """#
        let screens = try forms(outer)
        #expect(screens.map(\.target) == ["/a", "/b"])
        #expect(screens.map { $0.form.inputs.map(\.name) } == [["a"], ["b"]])
        #expect(screens.map(\.form.method) == [.get, .post])
    }
}
