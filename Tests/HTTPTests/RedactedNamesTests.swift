import BeagleNetHTTP
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Secrets whose names don't directly precede them, or that are in formats other than JSON.
struct RedactedNamesTests {
    private static let json = "application/json"

    private static let namedSecretsInJSONAreRedactedArguments: [(String, String?)] = [
        (#"{"name":"token","value":"x","b":1}"#, #"{"name":"token","value":"REDACTED","b":1}"#),
        (#"{"value":"x","name":"token"}"#, #"{"value":"REDACTED","name":"token"}"#),
        (#"{"key":"pass\u0077ord","value":17}"#, #"{"key":"pass\u0077ord","value":"REDACTED"}"#),
        (#"[{"name":"Cookie","value":"a=b"},{"name":"a","value":"b"}]"#, nil),
        (#"{"name":"X-Session-Id","value":["x"]}"#, #"{"name":"X-Session-Id","value":"REDACTED"}"#),
        (#"{"name":"page","value":"x"}"#, #"{"name":"page","value":"x"}"#),
        (#"{"name":"token","a":{"value":"x"}}"#, #"{"name":"token","a":{"value":"x"}}"#),
        (#"{"value":"x","a":{"name":"token"}}"#, #"{"value":"x","a":{"name":"token"}}"#),
        (#"{"value":"x","code":1}"#, #"{"value":"x","code":"REDACTED"}"#),
        (#"{"X-Session-Id":"x","x-auth":"y"}"#, #"{"X-Session-Id":"REDACTED","x-auth":"REDACTED"}"#),
        (
            #"{"privateKey":"x","PHPSESSID":"y","pinCode":1}"#,
            #"{"privateKey":"REDACTED","PHPSESSID":"REDACTED","pinCode":"REDACTED"}"#
        ),
        (#"{"a":"line\r\nCookie: a=b; c=d\r\nX: y"}"#, #"{"a":"line\r\nCookie: a=REDACTED; c=REDACTED\r\nX: y"}"#),
        (#"{"a":"login failed, password: x"}"#, #"{"a":"login failed, password: REDACTED"}"#),
        (
            #"{"a":"next=https%3A%2F%2Fa%2F%3Fpassword%3Dx"}"#,
            #"{"a":"next=https%3A%2F%2Fa%2F%3Fpassword%3DREDACTED"}"#
        ),
        (#"{"a":"50%3D"}"#, #"{"a":"50%3D"}"#),
        (
            #"{"headers":[["Authorization","x"],["X-Api-Key","y","z"],["Accept","a"]]}"#,
            #"{"headers":[["Authorization","REDACTED"],["X-Api-Key","REDACTED","REDACTED"],["Accept","a"]]}"#
        ),
        (
            #"[["pass\u0077ord",1],["token",null,{"a":1}]]"#,
            #"[["pass\u0077ord","REDACTED"],["token",null,"REDACTED"]]"#
        ),
        (#"[["token"],["a","token","b"],[1,"token","b"]]"#, #"[["token"],["a","token","b"],[1,"token","b"]]"#),
        (#"{"required":["password","email"]}"#, #"{"required":["password","email"]}"#),
    ]

    @Test(arguments: Self.namedSecretsInJSONAreRedactedArguments)
    func namedSecretsInJSONAreRedacted(_ body: String, _ expected: String?) throws {
        let other = #"[{"name":"Cookie","value":"REDACTED"},{"name":"a","value":"b"}]"#
        #expect(try redacted(body, Self.json) == expected ?? other)
    }

    @Test(
        arguments: [
            (#"{"password":"x"}"#, #"{"password":"REDACTED"}"#),
            (
                #"<script>a={"accessToken":"x","b":1,"token":f()}</script>"#,
                #"<script>a={"accessToken":"REDACTED","b":1,"token":f()}</script>"#
            ),
            ("<a><Password>x</Password><b>y</b></a>", "<a><Password>REDACTED</Password><b>y</b></a>"),
            (
                #"<s:Env><wsse:Password Type="t"> x</wsse:Password>"#,
                #"<s:Env><wsse:Password Type="t"> REDACTED</wsse:Password>"#
            ),
            ("<secret><![CDATA[<x>]]></secret>", "<secret><![CDATA[REDACTED]]></secret>"),
            ("<tokens><a>x</a></tokens><token/>x", "<tokens><a>x</a></tokens><token/>x"),
            ("<code>let a = 1</code> 2 > 1 <!-- a -->", "<code>let a = 1</code> 2 > 1 <!-- a -->"),
            (#"<login user="a" password="x"/>"#, #"<login user="a" password="REDACTED"/>"#),
            (#"<meta name="csrf-token" content="x">"#, #"<meta name="csrf-token" content="REDACTED">"#),
            (
                #"<input value="x" type="hidden" name="authenticity_token">"#,
                #"<input value="REDACTED" type="hidden" name="authenticity_token">"#
            ),
            (
                #"<input name="page" value="x"><a href="/?token=y">"#,
                #"<input name="page" value="x"><a href="/?token=REDACTED">"#
            ),
            (#"if (a.password == "x") b = 'token'"#, #"if (a.password == "x") b = 'token'"#),
        ],
        ["text/html", "application/soap+xml; charset=utf-8", "application/javascript"]
    )
    func namedSecretsInMarkupAreRedacted(_ row: (body: String, expected: String), _ type: String) throws {
        #expect(try redacted(row.body, type) == row.expected)
    }

    @Test func namedSecretsInAFormFileAreRedacted() throws {
        func body(_ password: String) -> String {
            "--b\r\nContent-Disposition: form-data; name=\"a\"; filename=\"a.json\"\r\nContent-Type: application/json\r\n\r\n"
                + "{\"password\":\"\(password)\"}\r\n--b--\r\n"
        }
        #expect(try redacted(body("x"), "multipart/form-data; boundary=b") == body("REDACTED"))
    }

    private static let namedSecretsInAnOrdinaryFieldAreRedactedArguments: [(String, String)] = [
        (#"{"password":"x","a":1}"#, #"{"password":"REDACTED","a":1}"#), ("a=1; password=x", "a=1; password=REDACTED"),
        ("next=https%3A%2F%2Fa%2F%3Ftoken%3Dx", "next=https%3A%2F%2Fa%2F%3Ftoken%3DREDACTED"),
    ]

    @Test(arguments: Self.namedSecretsInAnOrdinaryFieldAreRedactedArguments)
    func namedSecretsInAnOrdinaryFieldAreRedacted(_ value: String, _ expected: String) throws {
        let name = try #require(HTTPField.Name("X-Context"))
        #expect(Redactor().redact([name: value]).map(\.value) == [expected])
    }

    /// Redacts the body in one piece and byte by byte, and expects the same result.
    private func redacted(_ body: String, _ type: String) throws -> String {
        let data = Data(body.utf8)
        let whole = try #require(Redactor().redact(body: data, contentType: type).data)
        var redactor = Redactor.BodyRedactor(Redactor(), contentType: type)
        var cut = data.reduce(into: Data()) { $0 += redactor.feed(Data([$1])) }
        cut += redactor.finish()
        #expect(cut == whole)
        return String(decoding: whole, as: UTF8.self)
    }
}
