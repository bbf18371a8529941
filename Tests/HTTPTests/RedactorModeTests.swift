import BeagleNetHTTP
import Testing

struct RedactorModeTests {
    private let key = Redactor.Key(Data("0123456789abcdef".utf8))

    /// The hash is that of `printf secret | openssl dgst -sha256 -hmac 0123456789abcdef`.
    @Test func hashDependsOnTheKeyAndTheDecodedValue() {
        let redactor = Redactor(mode: .hash(key))
        let redacted = "REDACTED:h:59fa6a4dccc4"
        #expect(redactor.redact(url: "/?token=secret") == "/?token=\(redacted)")
        #expect(redactor.redact(url: "/?token=s%65cret") == "/?token=\(redacted)")
        #expect(redactor.redact([.authorization: "Bearer secret"]).map(\.value) == ["Bearer \(redacted)"])
        #expect(redactor.redact(text: "password=secret") == "password=\(redacted)")
        #expect(redactor.redact(url: "/?token=other") != "/?token=\(redacted)")
    }

    @Test func equalSecretsHaveEqualHashesOnlyWithinOneRedactor() {
        let (one, other) = (Redactor(mode: .hash()), Redactor(mode: .hash()))
        #expect(one.redact(url: "/?token=x") == one.redact(url: "/?token=x"))
        #expect(one.redact(url: "/?token=x") != other.redact(url: "/?token=x"))
        #expect(one != other)
    }

    @Test func descriptionsDoNotContainTheKey() {
        let redactor = Redactor(mode: .hash(key))
        var text = "\(redactor) \(String(reflecting: redactor)) \(key)"
        dump(redactor, to: &text)
        #expect(!text.contains("0123456789abcdef") && !text.contains("16 bytes") && !text.contains("48, 49"))
        #expect(Mirror(reflecting: key).children.isEmpty)
    }

    private static let droppedURLPartsLeaveOthersUnchangedArguments: [(String, String)] = [
        ("https://u:p@h/?token=x&a=1&pin=2&b=3#otp=1", "https://h/?a=1&b=3"), ("/?token=x", "/"),
        ("/?token=x&pin=1", "/"), ("/?token=x&pin=1&a=1", "/?a=1"), ("/?a=1&token=x", "/?a=1"),
        ("/?a=ghp_0123456789abcdefghijABCDEFGHIJ012345", "/?a=REDACTED"),
    ]

    @Test(arguments: Self.droppedURLPartsLeaveOthersUnchangedArguments)
    func droppedURLPartsLeaveOthersUnchanged(url: String, expected: String) {
        #expect(Redactor(mode: .drop).redact(url: url) == expected)
    }

    @Test func droppedFieldsAreRemoved() {
        let fields: HTTPFields = [
            .authorization: "Bearer x", .cookie: "a=b", .accept: "y", .wwwAuthenticate: "Digest realm=a, nonce=b",
        ]
        let redacted = Redactor(mode: .drop).redact(fields)
        #expect(redacted.map(\.name) == ["Accept", "WWW-Authenticate"])
        #expect(redacted.map(\.value) == ["y", "Digest realm=a, nonce=REDACTED"])
    }

    @Test(arguments: [Redactor.Mode.mask, .hash(), .drop])
    func redactingTwiceChangesNothing(mode: Redactor.Mode) {
        let redactor = Redactor(mode: mode)
        let url = redactor.redact(url: "https://u:p@h/?token=x&a=1#code=2&state=3")
        #expect(redactor.redact(url: url) == url)
        #expect(Redactor(mode: .hash()).redact(url: url) == url)
        let text = redactor.redact(text: "Authorization: Basic dTpw\npassword=x https://u:p@h/?pin=1")
        #expect(redactor.redact(text: text) == text)
    }
}
