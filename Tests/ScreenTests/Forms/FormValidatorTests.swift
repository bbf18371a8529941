import BeagleNet
import BeagleNetTesting
import Testing
import TestClients

@Suite(.beagle()) struct FormValidatorTests {
    private func key(_ validator: Form.Validator, _ value: Form.Value) -> String? {
        validator.message(for: value, in: [])?.key.rawValue
    }

    /// HTML Standard, 4.10.5.1.5.
    private static let emailFollowsHTMLArguments: [(String, Bool)] = [
        ("ada@example.com", true), ("a@b", true), ("a.b+c!#$%&'*/=?^_`{|}~-@x-1.y", true), (".a..b.@h", true),
        ("", true), ("a@\(String(repeating: "b", count: 63)).c", true), ("A@B.C", true),
        ("a", false), ("@b", false), ("a@", false), ("a@b@c", false), ("a b@c", false), ("a@b c", false),
        ("a@-b", false), ("a@b-", false), ("a@b..c", false), ("a@.b", false), ("a@b.", false), ("ä@b", false),
        ("a@ü.de", false), ("\"a\"@b", false), (" a@b", false), ("a@b\n", false), ("a@[::1]", false),
        ("a@\(String(repeating: "b", count: 64))", false),
    ]

    @Test(arguments: Self.emailFollowsHTMLArguments) func emailFollowsHTML(_ text: String, _ isValid: Bool) {
        #expect(key(.email, .text(text)) == (isValid ? nil : "email"))
    }

    /// HTML Standard, 2.3.4.3.
    private static let numberFollowsHTMLArguments: [(Form.Value, Bool)] = [
        ("0", true), ("-1", true), ("1.5", true), (".5", true), ("-.5e-3", true), ("1E+3", true), (7, true),
        (1.5, true), (.empty, true), ("", true), (["1", 2], true),
        ("+1", false), ("1.", false), (" 1", false), ("1 ", false), ("0x1", false), ("1e", false), ("nan", false),
        ("Infinity", false), ("1e999", false), (.number(.infinity), false), (true, false), ("-", false),
        (["1", "x"], false), ("1,5", false), ("e3", false),
    ]

    @Test(arguments: Self.numberFollowsHTMLArguments) func numberFollowsHTML(_ value: Form.Value, _ isValid: Bool) {
        #expect(key(.number, value) == (isValid ? nil : "number"))
    }

    private static let limitsIncludeTheirEndsArguments: [(Form.Validator, Form.Value, String?)] = [
        (.range(atLeast: 1, atMost: 3), 1, nil), (.range(atLeast: 1, atMost: 3), "3.0", nil),
        (.range(atLeast: 1, atMost: 3), 0.5, "tooSmall"), (.range(atLeast: 1, atMost: 3), "3.1", "tooLarge"),
        (.range(atLeast: 1), "x", "number"), (.range(atLeast: 1), "", nil), (.range(), -9, nil),
        (.length(atLeast: 2, atMost: 3), "ab", nil), (.length(atLeast: 2, atMost: 3), "abc", nil),
        (.length(atLeast: 2, atMost: 3), "a", "tooShort"), (.length(atLeast: 2, atMost: 3), "abcd", "tooLong"),
        (.length(atLeast: 2), "", nil), (.length(atMost: 1), "👨‍👩‍👧", nil), (.length(atMost: 1), 12, "tooLong"),
        (.length(atMost: 1), ["a", "bc"], "tooLong"),
        (.required, "", "required"), (.required, [""], "required"), (.required, false, nil),
        (.required, .file(FormFile(path: "a")), nil), (.email, .file(FormFile(path: "a")), nil),
    ]

    @Test(arguments: Self.limitsIncludeTheirEndsArguments)
    func limitsIncludeTheirEnds(_ validator: Form.Validator, _ value: Form.Value, _ key: String?) {
        #expect(self.key(validator, value) == key)
    }

    @Test func patternMatchesTheWholeText() throws {
        let validator = try Form.Validator.pattern("[a-z]{2}|x")
        let keys = ["ab", "x", "", "abc", "xab", "AB"].map { key(validator, .text($0)) }
        #expect(keys == [nil, nil, nil, "pattern", "pattern", "pattern"])
        let error = #expect(throws: NetworkError.self) { try Form.Validator.pattern("(") }
        #expect(error?.kind == .badConfiguration)
    }

    @Test func equalComparesWithAnotherInput() {
        let form = Form([
            Form.Input("password", "a"), Form.Input("again", validators: [.equal(to: "password")]),
            Form.Input("other", "b", validators: [.equal(to: "missing")]),
        ])
        #expect(form.validate().map(\.field) == ["again", "other"])
        form["again"] = "a"
        form["other"] = ""
        #expect(form.validate().isEmpty)
        form["password"] = nil
        form["again"] = .empty
        #expect(form.validate().isEmpty)
    }

    @Test func firstErrorOfAnInputIsReported() {
        let form = Form([
            Form.Input("a", isRequired: true, validators: [.email]),
            Form.Input("b", "x", validators: [.length(atLeast: 2), .email]) { _, _ in "check" },
            Form.Input("c", "x@y", validators: [.email]) { _, _ in "check" },
        ])
        #expect(
            form.validate() == [
                Form.FieldError(field: "a", message: "must not be empty"),
                Form.FieldError(field: "b", message: "must have at least 2 characters"),
                Form.FieldError(field: "c", message: "check"),
            ]
        )
    }

    @Test func messagesAreTranslatedByKey() {
        Beagle.dependencies.formMessages = Form.Messages { message in
            switch message.key {
            case .required: "fehlt"
            case .tooLarge: "höchstens \(message.arguments["maximum"] ?? "")"
            case .init(rawValue: "is odd"): "ungerade"
            default: nil
            }
        }
        var own = Form.Input("own", isRequired: true)
        own.requiredMessage = "own"
        let form = Form([
            Form.Input("a", isRequired: true), Form.Input("b", 4, validators: [.range(atMost: 3)]),
            Form.Input("c", "x", validators: [.email]), own,
            Form.Input("d", "x", validators: [Form.Validator.number.with(message: "is odd")]),
        ])
        #expect(
            form.validate().map(\.message) == ["fehlt", "höchstens 3", "must be an e-mail address", "own", "ungerade"]
        )
    }
}
