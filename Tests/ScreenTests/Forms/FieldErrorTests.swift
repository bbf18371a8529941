import BeagleNet
import Foundation
import Testing

struct FieldErrorTests {
    private static let inputs = ["name", "email", "profile.color", "address[city]", "tags", "a/b", "zip"]

    private func errors(_ body: String, _ contentType: String = "application/json") -> [Form.FieldError] {
        Form.FieldError.list(in: Data(body.utf8), contentType: contentType, inputs: Self.inputs)
    }

    private static let fieldNameIsMatchedToAnInputArguments: [(String, String?, String?)] = [
        (#"{"field":"email","message":"m"}"#, "email", nil),
        (#"{"name":"email","detail":"m"}"#, "email", nil),
        (#"{"field":"Email","message":"m"}"#, "email", nil),
        (#"{"field":"profile.color","message":"m"}"#, "profile.color", nil),
        (#"{"field":"profile[color]","message":"m"}"#, "profile.color", nil),
        (#"{"field":"address.city","message":"m"}"#, "address[city]", nil),
        (#"{"field":"tags[0]","message":"m"}"#, "tags", nil),
        (##"{"pointer":"#/email","detail":"m"}"##, "email", nil),
        (##"{"pointer":"#/profile/color","detail":"m"}"##, "profile.color", nil),
        (##"{"pointer":"#/address/city","detail":"m"}"##, "address[city]", nil),
        (##"{"pointer":"#/tags/0","detail":"m"}"##, "tags", nil),
        (#"{"pointer":"/data/attributes/zip","detail":"m"}"#, "zip", nil),
        (##"{"pointer":"#/a~1b","detail":"m"}"##, "a/b", nil),
        (##"{"pointer":"#/%61~1b","detail":"m"}"##, "a/b", nil),
        (#"{"field":"age","message":"m"}"#, nil, "age"),
        (##"{"pointer":"#/age","detail":"m"}"##, nil, "#/age"),
        (##"{"pointer":"#","detail":"m"}"##, nil, "#"),
        (#"{"field":"","message":"m"}"#, nil, ""),
        (#"{"message":"m"}"#, nil, nil),
        (#""m""#, nil, nil),
    ]

    @Test(arguments: Self.fieldNameIsMatchedToAnInputArguments)
    func fieldNameIsMatchedToAnInput(_ error: String, _ field: String?, _ serverName: String?) {
        let expected = Form.FieldError(field: field, message: "m", serverName: serverName)
        #expect(errors("{\"errors\":[\(error)]}") == [expected])
    }

    @Test func noErrorIsLost() {
        #expect(
            errors(#"{"errors":[{"field":"zip","code":7},8]}"#).map(\.message) == [#"{"code":7,"field":"zip"}"#, "8"]
        )
        #expect(
            errors(#"{"errors":{"zip":["a","b"],"email":"c","age":[{"x":1}]}}"#) == [
                Form.FieldError(field: nil, message: #"{"x":1}"#, serverName: "age"),
                Form.FieldError(field: "email", message: "c"),
                Form.FieldError(field: "zip", message: "a"), Form.FieldError(field: "zip", message: "b"),
            ]
        )
    }

    @Test func errorCountAndNameLengthAreLimited() {
        let name = String(repeating: "n", count: 5_000)
        let messages = Array(repeating: "\"m\"", count: 2_000).joined(separator: ",")
        let errors = errors("{\"errors\":{\"\(name)\":[\(messages)]}}")
        #expect(errors.count == 1_000)
        #expect(errors.allSatisfy { $0.serverName == String(name.prefix(1_000)) })
    }

    /// The example of RFC 9457, 3.
    @Test func problemDetailsListTheirFields() {
        let body = """
            {"type": "https://example.net/validation-error", "title": "Your request is not valid.", "errors": [
             {"detail": "must be a positive integer", "pointer": "#/age"},
             {"detail": "must be 'green', 'red' or 'blue'", "pointer": "#/profile/color"}]}
            """
        #expect(
            errors(body, "application/problem+json") == [
                Form.FieldError(field: nil, message: "must be a positive integer", serverName: "#/age"),
                Form.FieldError(field: "profile.color", message: "must be 'green', 'red' or 'blue'"),
            ]
        )
    }

    @Test func problemDetailsWithoutFieldsApplyToTheForm() {
        let body = #"{"title": "t", "detail": "d"}"#
        #expect(errors(body, "application/problem+json; charset=utf-8") == [Form.FieldError(field: nil, message: "d")])
        #expect(errors(#"{"title": "t"}"#, "application/problem+json") == [Form.FieldError(field: nil, message: "t")])
        #expect(errors(body).isEmpty)
    }

    /// Shortened responses of real servers: the server, the body, and the errors as `field: message`.
    private static let servers: [(server: String, body: String, errors: [String])] = [
        (
            "Django REST framework",
            #"{"email":["Enter a valid email address."],"name":["Too short.","Too odd."],"non_field_errors":["No."]}"#,
            ["email: Enter a valid email address.", "name: Too short.", "name: Too odd.", "-: No."]
        ),
        (
            "Django REST framework, nested",
            #"{"address":{"city":["Required."]},"tags":[{},{"name":["Unknown."]}],"other":["Odd."]}"#,
            ["address[city]: Required.", "-other: Odd.", "tags: Unknown."]
        ),
        ("Django REST framework, alone", #"{"detail":"JSON parse error"}"#, ["-: JSON parse error"]),
        (
            "Django's forms",
            #"{"errors":{"__all__":[{"message":"No.","code":""}],"email":[{"message":"Invalid.","code":"x"}]}}"#,
            ["-: No.", "email: Invalid."]
        ),
        (
            "drf-standardized-errors",
            #"{"type":"validation_error","errors":[{"code":"required","detail":"Required.","attr":"name"}]}"#,
            ["name: Required."]
        ),
        (
            "FastAPI",
            #"{"detail":[{"type":"missing","loc":["body","email"],"msg":"Field required","input":{}},"#
                + #"{"type":"x","loc":["body","profile","color"],"msg":"No color"},"#
                + #"{"type":"x","loc":["body","tags",0],"msg":"Odd"},{"type":"x","loc":["body"],"msg":"No body"},"#
                + #"{"type":"x","loc":["query","page"],"msg":"Not a page"}]}"#,
            ["email: Field required", "profile.color: No color", "tags: Odd", "-: No body", "-page: Not a page"]
        ),
        ("FastAPI's HTTPException", #"{"detail":"Email already registered"}"#, ["-: Email already registered"]),
        ("FastAPI's HTTPException, by field", #"{"detail":{"email":"is taken"}}"#, ["email: is taken"]),
        (
            "Spring Boot",
            #"{"timestamp":"t","status":400,"error":"Bad Request","path":"/signup","message":"Validation failed","#
                + #""errors":[{"codes":["NotBlank"],"defaultMessage":"must not be blank","objectName":"signup","#
                + #""field":"address.city","rejectedValue":"","code":"NotBlank"},"#
                + #"{"defaultMessage":"passwords differ","objectName":"signup","code":"Same"}]}"#,
            ["address[city]: must not be blank", "-: passwords differ"]
        ),
        (
            "Bean Validation", #"{"status":400,"violations":[{"field":"create.person.name","message":"is blank"}]}"#,
            ["name: is blank"]
        ),
        (
            "JHipster", #"{"title":"t","fieldErrors":[{"objectName":"u","field":"email","message":"is taken"}]}"#,
            ["email: is taken"]
        ),
        (
            "RFC 7807's example", #"{"title":"t","invalid-params":[{"name":"zip","reason":"must be digits"}]}"#,
            ["zip: must be digits"]
        ),
        (
            "Rails", #"{"email":["has already been taken"],"base":["No."]}"#,
            ["-: No.", "email: has already been taken"]
        ),
        ("Rails, in errors", #"{"errors":{"address.city":["can't be blank"]}}"#, ["address[city]: can't be blank"]),
        ("Rails, in full", #"{"errors":["Email can't be blank"]}"#, ["-: Email can't be blank"]),
        ("Rails' details", #"{"email":[{"error":"blank"},{"error":"short"}]}"#, ["email: blank", "email: short"]),
        (
            "JSON:API",
            #"{"errors":[{"status":"422","source":{"pointer":"/data/attributes/email"},"title":"Invalid","#
                + #""detail":"is taken"},{"source":{"parameter":"zip"},"title":"Odd"},{"title":"No."},"#
                + #"{"source":{"pointer":"/data/attributes/given-name"},"detail":"is blank"},"#
                + #"{"source":{"pointer":"/data/attributes/age"},"detail":"is odd"}]}"#,
            [
                "email: is taken", "zip: Odd", "-: No.", "given_name: is blank", "-/data/attributes/age: is odd",
            ]
        ),
        (
            "ASP.NET",
            #"{"title":"t","status":400,"errors":{"$.zip":["The JSON value is odd."],"Email":["Required."]}}"#,
            ["zip: The JSON value is odd.", "email: Required."]
        ),
        ("Laravel", #"{"message":"Invalid.","errors":{"tags.0":["is odd"]}}"#, ["tags: is odd"]),
        (
            "express-validator", #"{"errors":[{"type":"field","msg":"Odd","path":"zip","location":"body"}]}"#,
            ["zip: Odd"]
        ),
    ]

    @Test(arguments: servers.indices) func theFormatsOfCommonServersAreRead(_ index: Int) throws {
        let (server, body, expected) = Self.servers[index]
        for code in [400, 409, 422] {
            let fields: HTTPFields = [.contentType: "application/json"]
            let response = NetworkResponse(
                data: Data(body.utf8),
                response: HTTPResponse(status: .init(code: code), headerFields: fields)
            )
            let errors = Form.FieldError.list(in: response, inputs: Self.inputs + ["given_name"])
            #expect(errors.map { "\($0.field ?? "-")\($0.serverName ?? ""): \($0.message)" } == expected, "\(server)")
        }
    }

    @Test func inputMayBeNamedLikeAFormWideKey() {
        let body = Data(#"{"base":["is odd"]}"#.utf8)
        let errors = Form.FieldError.list(in: body, contentType: nil, inputs: ["base"])
        #expect(errors == [Form.FieldError(field: "base", message: "is odd")])
    }

    private static let recordsAndUnknownFormatsAreNotFieldErrorsArguments: [String] = [
        #"{"id":7,"name":"Ada","email":"a@b.c","tags":["x"]}"#, #"{"unknown":["x"]}"#, #"{"email":"is taken"}"#,
        #"{"error":"Conflict","message":"exists"}"#, #"{"detail":"d","title":"t"}"#, #"{"email":[7]}"#,
    ]

    @Test(
        "a conflict response that describes the existing record has no field errors",
        arguments: Self.recordsAndUnknownFormatsAreNotFieldErrorsArguments
    )
    func recordsAndUnknownFormatsAreNotFieldErrors(_ body: String) {
        #expect(errors(body).isEmpty)
    }

    @Test func otherStatusesHaveNoFieldErrors() {
        for code in [401, 403, 404, 500] {
            let response = NetworkResponse(
                data: Data(#"{"errors":[{"field":"email","message":"m"}]}"#.utf8),
                response: HTTPResponse(status: .init(code: code))
            )
            #expect(Form.FieldError.list(in: response).isEmpty)
        }
    }

    private static let otherBodiesHaveNoFieldErrorsArguments: [String] = [
        "", "no JSON", "[]", "{}", #"{"errors":[]}"#, #"{"errors":7}"#,
    ]

    @Test(arguments: Self.otherBodiesHaveNoFieldErrorsArguments) func otherBodiesHaveNoFieldErrors(
        _ body: String
    ) {
        #expect(errors(body).isEmpty)
    }

    @Test func withoutAFormEveryNameIsAField() {
        let body = Data(##"{"errors":[{"pointer":"#/a/b","detail":"m"},{"field":"x.y","message":"n"}]}"##.utf8)
        let errors = Form.FieldError.list(in: body, contentType: nil, inputs: nil)
        #expect(errors.map(\.field) == ["a.b", "x.y"])
    }
}
