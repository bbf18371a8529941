import BeagleNetHTTP
import BeagleNetRequestBuilder
import Testing

struct FormDataTests {
    private let builder = HttpRequestBuilder()

    @Test("row 39: values with the same name form a list")
    func valuesWithTheSameNameFormAList() throws {
        let fields = [FormField("a", "1"), FormField("b", "x"), FormField("a", 2)]
        let json = Request.FormData(method: .post, fields: fields)
        #expect(try builder.message("http://h/", .submitForm(json)).body == #"{"a":["1",2],"b":"x"}"#)
        let encoded = Request.FormData(method: .put, fields: fields, encoding: .urlEncoded)
        #expect(try builder.message("http://h/", .submitForm(encoded)).body == "a=1&b=x&a=2")
        let spaced = Request.FormData(method: .post, fields: [FormField("a", "b c~+")], encoding: .urlEncoded)
        #expect(try builder.message("http://h/", .submitForm(spaced)).body == "a=b+c%7E%2B")
    }

    private static let requiredFieldNeedsAValueArguments: [(JSONValue, Bool)] = [
        (.string(""), true), (.null, true), (.string("x"), false), (.integer(0), false), (.bool(false), false),
    ]

    @Test(
        "row 39: a required field needs a value",
        arguments: Self.requiredFieldNeedsAValueArguments
    )
    func requiredFieldNeedsAValue(value: JSONValue, isRefused: Bool) throws {
        let form = Request.FormData(method: .post, fields: [FormField("email", value, isRequired: true)])
        for compatibility in [HttpRequestBuilder.Compatibility.standard, .beagle1] {
            let builder = HttpRequestBuilder(compatibility: compatibility)
            if isRefused {
                #expect(builder.refusal("http://h/", .submitForm(form))?.message.contains("email") == true)
            } else {
                _ = try builder.message("http://h/", .submitForm(form))
            }
        }
    }

    @Test("row 40: values keep their types")
    func valuesKeepTheirTypes() throws {
        let optional: Int? = 3
        let fields = [
            FormField("n", 1), FormField("t", true), FormField("d", 1.5), FormField("o", ["a": [1]]),
            FormField("w", optional.map { .integer(Int64($0)) } ?? .null), FormField("z", nil),
        ]
        let json = Request.FormData(method: .post, fields: fields)
        #expect(
            try builder.message("http://h/", .submitForm(json)).body
                == #"{"d":1.5,"n":1,"o":{"a":[1]},"t":true,"w":3,"z":null}"#
        )
        let query = Request.FormData(method: .get, fields: fields)
        #expect(
            try builder.message("http://h/", .submitForm(query)).url
                == "http://h/?n=1&t=true&d=1.5&o=%7B%22a%22%3A%5B1%5D%7D&w=3&z="
        )
    }

    @Test(arguments: FormRemoteAction.Method.allCases)
    func fieldWithoutANameIsRejected(method: FormRemoteAction.Method) {
        let form = Request.FormData(method: method, fields: [FormField("a", "b"), FormField("", "hidden")])
        let error = builder.refusal("http://h/", .submitForm(form))
        #expect(error?.message == "form field 2 has no name")
        #expect(builder.refusal("http://h/", .raw("POST", body: .form(form.fields))) != nil)
    }

    @Test func valuesAreAViewOfTheFields() {
        var form = Request.FormData(
            method: .post,
            fields: [FormField("a", 1), FormField("a", "2"), FormField("b", .null)]
        )
        #expect(form.values == ["a": "2", "b": ""])
        form.values = ["z": "1", "y": "2"]
        #expect(form.fields == [FormField("y", "2"), FormField("z", "1")])
    }

    @Test(arguments: [FormRemoteAction.Method.post, .put])
    func formWithoutValuesSendsAnEmptyObject(method: FormRemoteAction.Method) throws {
        #expect(try builder.message("http://h/", .form(method)).body == "{}")
    }
}
