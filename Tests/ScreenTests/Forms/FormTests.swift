import BeagleNet
import Foundation
import Testing

struct FormTests {
    private func fields(_ form: Form) throws -> [FormField] { try form.data().fields }

    @Test func valuesKeepTheirTypes() throws {
        let form = Form([
            Form.Input("text", "a"), Form.Input("integer", 3), Form.Input("number", 1.5), Form.Input("bool", false),
            Form.Input("empty", nil), Form.Input("list", ["a", 1]),
        ])
        let expected: [FormField] = [
            FormField("text", "a"), FormField("integer", 3), FormField("number", 1.5), FormField("bool", false),
            FormField("empty", nil), FormField("list", ["a", 1]),
        ]
        #expect(try fields(form) == expected)
    }

    private static let listRepeatsItsNameIfThereIsNoArrayArguments:
        [(FormRemoteAction.Method, Request.FormData.Encoding, Int)] = [
            (.post, .json, 1), (.post, .urlEncoded, 3), (.put, .multipart, 3), (.get, .json, 3), (.delete, .json, 3),
        ]

    @Test(arguments: Self.listRepeatsItsNameIfThereIsNoArrayArguments)
    func listRepeatsItsNameIfThereIsNoArray(
        _ method: FormRemoteAction.Method,
        _ encoding: Request.FormData.Encoding,
        _ count: Int
    ) throws {
        let form = Form([Form.Input("tag", ["a", ["b", 1]])], method: method, encoding: encoding)
        #expect(try fields(form).count == count)
        let photos = Form.Value.list([.file(FormFile(path: "a")), .file(FormFile(path: "b"))])
        #expect(try fields(Form([Form.Input("photo", photos)])).map(\.file?.filename) == ["a", "b"])
    }

    @Test func datesAndDaysAreWrittenAsText() throws {
        let date = Date(timeIntervalSince1970: 1_795_321_999.25)
        #expect(Form.Value.date(date) == "2026-11-22T04:33:19Z")
        let (east, west) = (try #require(TimeZone(secondsFromGMT: 0)), try #require(TimeZone(secondsFromGMT: -18_000)))
        #expect(Form.Value.day(date, in: east) == "2026-11-22")
        #expect(Form.Value.day(date, in: west) == "2026-11-21")
    }

    @Test func validationErrorsAreReportedInOrder() {
        let form = Form([
            Form.Input("name", isRequired: true) { _, _ in "is not asked" },
            Form.Input("age", 12) { value, _ in value == 12 ? "is too young" : nil },
            Form.Input("tags", [""], isRequired: true),
            Form.Input("terms", false, isRequired: true),
            Form.Input("password", "a"),
            Form.Input("again", "") { value, all in
                value == all.first { $0.name == "password" }?.value ? nil : "is another password"
            },
        ])
        #expect(
            form.validate() == [
                Form.FieldError(field: "name", message: "must not be empty"),
                Form.FieldError(field: "age", message: "is too young"),
                Form.FieldError(field: "tags", message: "must not be empty"),
                Form.FieldError(field: "again", message: "is another password"),
            ]
        )
        form["again"] = "a"
        form["age"] = 30
        #expect(form.validate().map(\.field) == ["name", "tags"])
    }

    @Test func inputIsSetAndRemovedByName() throws {
        let form = Form([Form.Input("a", 1), Form.Input("b", 2), Form.Input("a", 3)])
        #expect(form["a"] == 1)
        form["a"] = 4
        form["c"] = 5
        #expect(form.inputs.map(\.name) == ["a", "b", "c"])
        form["b"] = nil
        form.add(Form.Input("a", 6))
        #expect(try fields(form) == [FormField("a", 4), FormField("c", 5), FormField("a", 6)])
    }

    @Test func additionalDataOverridesInputsWhichOverrideStoredValues() throws {
        let store = Form.MemoryStore()
        let stored = [
            FormField("both", "stored"), FormField("page", 1), FormField("page", 2), FormField("all", "stored"),
        ]
        store.save(stored, replacing: [], in: "signup")
        let form = Form(
            [Form.Input("both", ""), Form.Input("own", "x"), Form.Input("all", "input")],
            group: "signup",
            store: store
        )
        form.additionalData = ["z": true, "all": "additional"]
        #expect(
            try fields(form) == [
                FormField("page", 1), FormField("page", 2), FormField("both", ""), FormField("own", "x"),
                FormField("all", "additional"), FormField("z", true),
            ]
        )
    }
}
