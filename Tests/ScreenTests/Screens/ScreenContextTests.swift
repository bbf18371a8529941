import BeagleNet
import BeagleNetTesting
import Testing
import TestClients

@Suite(.beagle()) struct ScreenContextTests {
    private static let context = ScreenContext([
        "user": [
            "name": "Ada", "id": 9_007_199_254_740_993, "age": 36, "half": 0.5, "isNew": true, "none": nil,
            "tags": ["a", ["b": 1]], "trap": "@{user.name}",
        ],
        "onSuccess": ["data": "x"],
    ])

    private static let expressionsHaveTheValueOfTheContextArguments: [(JSONValue, JSONValue)] = [
        ("@{user.name}", "Ada"), ("Hello, @{user.name}!", "Hello, Ada!"), ("plain", "plain"), (7, 7), (nil, nil),
        ("@{user.age}", 36), ("@{user.half}", 0.5), ("@{user.isNew}", true), ("@{user.none}", nil),
        ("@{user.missing.deep}", nil), ("[@{user.missing}]", "[]"), ("@{user.tags[0]}", "a"),
        ("@{user.tags}", ["a", ["b": 1]]), ("@{user.tags[1]}", ["b": 1]), ("@{user.tags[9]}", nil),
        // An integer keeps all digits.
        ("@{user.id}", 9_007_199_254_740_993), ("/users/@{user.id}", "/users/9007199254740993"),
        ("@{concat(user.name, '-', user.id)}", "Ada-9007199254740993"), ("@{sum(user.age, 1)}", 37),
        ("@{eq(user.name, 'Ada')}", true), ("@{gt(user.id, 1)}", true),
        (#"\@{user.name}"#, "@{user.name}"), (#"a\\b"#, #"a\b"#), ("@{}", "@{}"), ("a@b.c", "a@b.c"),
        // A value is data.
        ("@{user.trap}", "@{user.name}"), ("<@{user.trap}>", "<@{user.name}>"),
        (["a": ["@{user.name}", ["@{user.age}": "@{user.age}"]]], ["a": ["Ada", ["@{user.age}": 36]]]),
    ]

    @Test(arguments: Self.expressionsHaveTheValueOfTheContextArguments)
    func expressionsHaveTheValueOfTheContext(_ value: JSONValue, _ expected: JSONValue) throws {
        #expect(try Self.context.evaluate(value) == expected)
    }

    @Test(arguments: ["@{other.name}", "/@{other}", "@{unknown(user.name)}", "<@{user.tags}>"])
    func expressionWithoutAValueIsAnError(_ text: String) {
        let error = #expect(throws: NetworkError.self) { try Self.context.evaluate(["a": .string(text)]) }
        #expect(error?.kind == .badRequest)
        #expect(error?.message.contains("\"other\"") == text.contains("other"))
    }

    private static let responseIsTheContextOfTheNextActionsArguments:
        [(NetworkClient.NetworkResult, String, JSONValue)] = [
            (
                .success(NetworkResponse(data: Data(#"{"id":7}"#.utf8), response: HTTPResponse(status: .created))),
                "onSuccess", ["data": ["id": 7], "status": 201, "statusText": "success"]
            ),
            (
                .success(NetworkResponse(response: HTTPResponse(status: .noContent))), "onSuccess",
                ["data": nil, "status": 204, "statusText": "success"]
            ),
            (
                .success(NetworkResponse(text: "<html>")), "onSuccess",
                ["data": nil, "status": 200, "statusText": "success"]
            ),
            (
                .failure(NetworkError(.connect, during: .connect, "no connection")), "onError",
                ["data": nil, "status": 0, "statusText": "no connection", "message": "no connection"]
            ),
        ]

    @Test(arguments: Self.responseIsTheContextOfTheNextActionsArguments)
    func responseIsTheContextOfTheNextActions(
        _ result: NetworkClient.NetworkResult,
        _ id: String,
        _ expected: JSONValue
    ) {
        let context = ScreenContext(["a": 1]).after(result)
        #expect(context.values == ["a": 1, id: expected])
    }
}
