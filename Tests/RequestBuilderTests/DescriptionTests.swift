import BeagleNetHTTP
import BeagleNetRequestBuilder
import Testing

/// `print` and `dump` show requests without their secrets.
struct DescriptionTests {
    private static let url = URL(string: "https://u:hunter2@h/a?token=hunter2&b=1")!
    private static let headers = ["Authorization": "Bearer hunter2", "X-Api-Key": "hunter2", "X-Page": "7"]
    private static let shownHeaders = "Authorization: Bearer REDACTED\nX-Api-Key: REDACTED\nX-Page: 7"

    static let requests: [(Request, String)] = [
        (
            Request(url: url, type: .fetchComponent, query: [URLQueryItem(name: "pin", value: "hunter2")]),
            "fetchComponent https://REDACTED:REDACTED@h/a?token=REDACTED&b=1&pin=REDACTED"
        ),
        (Request(url: URL(string: "/i.png")!, type: .fetchImage), "fetchImage /i.png"),
        (
            Request(
                url: URL(string: "/a")!,
                type: .submitForm(.init(method: .post, values: ["a": "b", "password": "hunter2"]))
            ),
            #"submitForm /a POST as json: {"a":"b","password":"REDACTED"}"#
        ),
        (
            Request(
                url: URL(string: "/a")!,
                type: .rawRequest(.init(method: "PUT", headers: headers, body: .json(["pin": "hunter2", "c": 1])))
            ),
            "rawRequest PUT /a\n\(shownHeaders)\n\n" + #"{"c":1,"pin":"REDACTED"}"#
        ),
        (
            Request(
                url: URL(string: "/a")!,
                type: .fetchComponent,
                additionalData: HttpAdditionalData(
                    httpData: .init(method: .POST, body: Data(#"{"otp":"hunter2"}"#.utf8)),
                    headers: headers
                )
            ),
            "fetchComponent /a\nadditional data: POST\n\(shownHeaders)\n\n" + #"{"otp":"REDACTED"}"#
        ),
    ]

    @Test(arguments: requests.indices) func requestIsReadableWithoutSecrets(_ index: Int) throws {
        let (request, expected) = Self.requests[index]
        #expect("\(request)" == expected)
        for text in [String(reflecting: request), "\([request])", shown(request), shown(request.type)] {
            #expect(!text.contains("hunter2") && !text.contains("Box"), "\(text)")
        }
    }

    static let bodies: [(Request.Body, String)] = [
        (.text("password=hunter2 a"), "password=REDACTED a"),
        (.data(Data([0xFF, 0])), "2 bytes of application/octet-stream"),
        (.form([FormField("a", 1), FormField("pwd", "hunter2")]), #"{"a":1,"pwd":"REDACTED"}"#),
        (.multipart([FormField("f", FormFile(Data([1]), filename: "a.png"))]), #"{"f":"the file a.png"}"#),
        (.encodable(["password": "hunter2"]), #"["password": "REDACTED"]"#), (.file(path: "/a/b"), "the file /a/b"),
    ]

    @Test(arguments: bodies.indices) func bodyIsReadableWithoutSecrets(_ index: Int) {
        let (body, expected) = Self.bodies[index]
        #expect("\(body)" == expected)
        #expect(!shown(body).contains("hunter2"))
    }

    @Test func messageIsReadableWithoutSecrets() throws {
        var builder = HttpRequestBuilder()
        builder.baseURL = URL(string: "https://h")
        builder.additionalHeaders = Self.headers
        let request = Request(
            url: URL(string: "/a?otp=hunter2")!,
            type: .rawRequest(.init(method: "POST", body: .json(["pin": 1])))
        )
        let built = try builder.build(request)
        let text = "\(built)"
        #expect(text.hasPrefix("POST https://h/a?otp=REDACTED\n"), "\(text)")
        #expect(text.contains("X-Page: 7\n") && text.hasSuffix("\n\n" + #"{"pin":"REDACTED"}"#), "\(text)")
        let result = builder.build(url: request.url, requestType: request.type, additionalData: nil)
        for value in [shown(result), "\(result)", shown(builder), "\(builder)"] {
            #expect(!value.contains("hunter2"), "\(value)")
        }
        #expect("\(builder)" == "HttpRequestBuilder for https://h\n\(Self.shownHeaders)")
    }

    private func shown(_ value: Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
    }
}
