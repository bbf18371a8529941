import BeagleNet
import Foundation
import Testing

@Suite struct FieldErrorTests {
    private static let inputs = ["name", "email", "profile.color", "address[city]", "tags", "a/b", "zip"]

    private func errors(_ body: String, _ contentType: String = "application/json") -> [FieldError] {
        FieldError.list(in: Data(body.utf8), contentType: contentType, inputs: Self.inputs)
    }

    @Test(
        arguments: [
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
        ] as [(String, String?, String?)]
    )
    func aFieldIsTheInputThatIsMeant(_ error: String, _ field: String?, _ serverName: String?) {
        let expected = FieldError(field: field, message: "m", serverName: serverName)
        #expect(errors("{\"errors\":[\(error)]}") == [expected])
    }

    @Test func nothingThatIsSaidIsLost() {
        #expect(
            errors(#"{"errors":[{"field":"zip","code":7},8]}"#).map(\.message) == [#"{"code":7,"field":"zip"}"#, "8"]
        )
        #expect(
            errors(#"{"errors":{"zip":["a","b"],"email":"c","age":[{"x":1}]}}"#) == [
                FieldError(field: nil, message: #"{"x":1}"#, serverName: "age"),
                FieldError(field: "email", message: "c"),
                FieldError(field: "zip", message: "a"), FieldError(field: "zip", message: "b"),
            ]
        )
    }

    /// The example of RFC 9457, 3.
    @Test func aProblemTellsItsFields() {
        let body = """
            {"type": "https://example.net/validation-error", "title": "Your request is not valid.", "errors": [
             {"detail": "must be a positive integer", "pointer": "#/age"},
             {"detail": "must be 'green', 'red' or 'blue'", "pointer": "#/profile/color"}]}
            """
        #expect(
            errors(body, "application/problem+json") == [
                FieldError(field: nil, message: "must be a positive integer", serverName: "#/age"),
                FieldError(field: "profile.color", message: "must be 'green', 'red' or 'blue'"),
            ]
        )
    }

    @Test func aProblemWithoutFieldsIsOneOfTheForm() {
        let body = #"{"title": "t", "detail": "d"}"#
        #expect(errors(body, "application/problem+json; charset=utf-8") == [FieldError(field: nil, message: "d")])
        #expect(errors(#"{"title": "t"}"#, "application/problem+json") == [FieldError(field: nil, message: "t")])
        #expect(errors(body).isEmpty)
    }

    @Test(arguments: ["", "no JSON", "[]", "{}", #"{"errors":[]}"#, #"{"errors":7}"#]) func otherBodiesTellOfNone(
        _ body: String
    ) {
        #expect(errors(body).isEmpty)
    }

    @Test func withoutAFormEveryNameIsAFields() {
        let body = Data(##"{"errors":[{"pointer":"#/a/b","detail":"m"},{"field":"x.y","message":"n"}]}"##.utf8)
        let errors = FieldError.list(in: body, contentType: nil, inputs: nil)
        #expect(errors.map(\.field) == ["a.b", "x.y"])
    }
}
