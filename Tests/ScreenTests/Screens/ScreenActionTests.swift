import BeagleNet
import BeagleNetTesting
import CurlPeers
import Foundation
import Testing

@Suite(.leavesNothing, .beagle(.live), .timeLimit(.minutes(5))) struct ScreenActionTests {
    private static let context = ScreenContext([
        "user": ["id": 7, "name": "Ada", "trap": "@{user.id}", "method": "put"],
        "h": ["X-A": "a", "X-N": 1, "X-0": nil],
    ])

    private func serve(_ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response) throws
        -> LoopbackServer
    {
        let server = try LoopbackServer(answer: answer)
        Beagle.dependencies.environment = BeagleEnvironment(name: "loopback", baseURL: URL(string: server.url))
        return server
    }

    private func action(_ json: String) throws -> ScreenAction {
        try #require(ScreenAction(try JSONValue(parsing: json)))
    }

    /// The action, and its request line and body on the wire.
    private static let actionIsSentWithItsValuesArguments: [(String, String, String)] = [
        (#"{"_beagleAction_":"beagle:sendRequest","url":"/users/@{user.id}"}"#, "GET /users/7", ""),
        (
            #"""
            {"_beagleAction_":"BEAGLE:SendRequest","url":"/u","method":"@{user.method}",
             "data":{"n":"@{user.name}","t":"@{user.trap}"}}
            """#,
            "PUT /u", #"{"n":"Ada","t":"@{user.id}"}"#
        ),
        (
            #"""
            {"_:action":"sendRequest",
             "properties":{"url":"/u?q=@{user.trap}","method":"Post","data":["@{user.id}"]}}
            """#,
            "POST /u?q=%40%7Buser.id%7D", "[7]"
        ),
        (#"{"_beagleAction_":"beagle:sendRequest","url":"/u","method":"DELETE","data":null}"#, "DELETE /u", ""),
        (#"{"_beagleAction_":"beagle:pushView","route":{"url":"/d/@{user.id}"}}"#, "GET /d/7", ""),
        (
            #"""
            {"_beagleAction_":"beagle:resetStack","route":{"url":"/d","httpAdditionalData":{"method":"patch",
             "body":{"n":"@{user.name}","t":"@{user.trap}"}}}}
            """#,
            "PATCH /d", #"{"n":"Ada","t":"\u0040{user.id}"}"#
        ),
        (#"{"_beagleAction_":"beagle:navigate","path":"/old"}"#, "GET /old", ""),
        (#"{"_:action":"push","properties":{"url":"/n","method":"POST","body":{"a":1}}}"#, "POST /n", #"{"a":1}"#),
    ]

    @Test(arguments: Self.actionIsSentWithItsValuesArguments)
    func actionIsSentWithItsValues(_ json: String, _ line: String, _ body: String) async throws {
        let server = try serve { _ in .response(204) }
        defer { server.stop() }
        let request = try #require(try action(json).request(in: Self.context))
        _ = try await Beagle.dependencies.networkClient.executeRequest(request)
        let sent = try #require(server.requests.first)
        #expect("\(sent.method) \(sent.target)" == line)
        #expect(String(decoding: sent.body, as: UTF8.self) == body)
    }

    @Test(arguments: [#""@{h}""#, #"{"X-A":"a","X-N":1,"X-0":"@{h.X-0}"}"#])
    func headersAreEvaluated(_ headers: String) async throws {
        let server = try serve { _ in .response(204) }
        defer { server.stop() }
        for json in [
            #"{"_beagleAction_":"beagle:sendRequest","url":"/u","headers":\#(headers)}"#,
            #"{"_beagleAction_":"beagle:pushView","route":{"url":"/u","httpAdditionalData":{"headers":\#(headers)}}}"#,
        ] {
            let request = try #require(try action(json).request(in: Self.context))
            _ = try await Beagle.dependencies.networkClient.executeRequest(request)
            let sent = try #require(server.requests.last)
            #expect(sent["X-A"] == "a" && sent["X-N"] == "1" && sent["X-0"] == nil)
        }
    }

    @Test(arguments: [
        #"{"_beagleAction_":"beagle:popView"}"#, #"{"_beagleAction_":"custom:a","url":"/a"}"#,
        #"{"_beagleAction_":"beagle:openExternalURL","url":"/a"}"#,
        #"{"_beagleAction_":"beagle:pushView","route":{"screen":{},"url":"/a"}}"#,
        #"{"_beagleAction_":"beagle:setContext","value":{"_beagleAction_":"beagle:sendRequest","url":"/a"}}"#,
    ])
    func otherActionHasNoRequest(_ json: String) throws {
        #expect(try action(json).request(in: Self.context) == nil)
    }

    private static let actionWithoutAValueIsAnErrorArguments: [(String, NetworkError.Kind)] = [
        (#"{"_beagleAction_":"beagle:sendRequest","url":"/@{x}"}"#, .badRequest),
        (#"{"_beagleAction_":"beagle:sendRequest","url":"@{user.missing}"}"#, .badURL),
        (#"{"_beagleAction_":"beagle:sendRequest"}"#, .badURL),
        (
            #"{"_beagleAction_":"beagle:pushView","route":{"url":"/a","httpAdditionalData":{"method":"X"}}}"#,
            .badRequest
        ),
        (#"{"_beagleAction_":"beagle:submitForm"}"#, .badRequest),
        (#"{"_beagleAction_":"beagle:formRemoteAction","path":"/a"}"#, .badRequest),
    ]

    @Test(arguments: Self.actionWithoutAValueIsAnErrorArguments)
    func actionWithoutAValueIsAnError(_ json: String, _ kind: NetworkError.Kind) throws {
        let action = try action(json)
        let error = #expect(throws: NetworkError.self) { try action.request(in: Self.context) }
        #expect(error?.kind == kind)
    }

    @Test func jsonWithoutAnActionIsNoAction() {
        for json: JSONValue in ["a", nil, ["url": "/a"], ["_beagleAction_": 1], ["_beagleComponent_": "beagle:text"]] {
            #expect(ScreenAction(json) == nil)
        }
    }

    /// The reply of the server isn't evaluated, even if it looks like an expression or an action.
    @Test(arguments: [201, 422, 0]) func nextActionUsesTheReplyAsData(_ status: Int) async throws {
        let reply = #"{"id":"@{user.id}","a":{"_beagleAction_":"beagle:popView"}}"#
        let server = try serve { request in
            if request.target == "/next" { return .response(204) }
            return status == 0 ? .close : .response(status, [:], reply)
        }
        defer { server.stop() }
        let event = status == 201 ? "onSuccess" : "onError"
        let next = #"{"_beagleAction_":"beagle:sendRequest","url":"/next","method":"POST","data":"@{\#(event)}"}"#
        let action = try action(
            #"""
            {"_beagleAction_":"beagle:sendRequest","url":"/u","method":"POST","data":1,"\#(event)":\#(next),
             "onFinish":[{"_beagleAction_":"beagle:popView"}]}
            """#
        )
        let client = Beagle.dependencies.networkClient
        let request = try #require(try action.request(in: Self.context))
        let result = await NetworkClient.NetworkResult.catching { () throws(NetworkError) in
            try await client.executeRequest(request)
        }
        let actions = action.actions(after: result)
        #expect(actions.map(\.type) == ["beagle:sendRequest", "beagle:popView"])
        let following = try #require(try actions[0].request(in: Self.context.after(result)))
        _ = try await client.executeRequest(following)
        let sent = try JSONValue(parsing: try #require(server.requests.last).body)
        #expect(sent["status"] == .integer(Int64(status)))
        #expect(try sent["data"] == (status == 0 ? .null : JSONValue(parsing: reply)))
        #expect((sent["message"] == nil) == (status == 201))
    }
}
