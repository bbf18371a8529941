import BeagleNetHTTP
import BeagleNetRequestBuilder
import Testing

/// Row numbers refer to the list of defects in Beagle 1.10.3 that this builder doesn't have.
struct HttpRequestBuilderTests {
    private let builder = HttpRequestBuilder()

    private func post(_ body: String) -> HttpAdditionalData {
        HttpAdditionalData(httpData: .init(method: .POST, body: Data(body.utf8)), headers: ["header": "value"])
    }

    // MARK: - Credentials

    private static let credentialsAreSentToDeclaredOriginsOnlyArguments: [(String, String?, [String], Bool)] = [
        ("http://h/a", "http://h", [], true), ("http://other/a", "http://h", [], false),
        ("http://h:81/a", "http://h", [], false), ("http://other/a", nil, ["http://other"], true),
        ("http://h/a", nil, ["http://other"], false), ("http://h/a", nil, [], true),
    ]

    @Test(arguments: Self.credentialsAreSentToDeclaredOriginsOnlyArguments)
    func credentialsAreSentToDeclaredOriginsOnly(url: String, base: String?, origins: [String], isShown: Bool) throws {
        var builder = HttpRequestBuilder()
        builder.baseURL = base.flatMap { URL(string: $0) }
        builder.origins = Set(origins.compactMap { URL(string: $0).flatMap { Origin($0) } })
        var options = TransferOptions()
        options.authentication = .bearer("t0ken")
        options.identity = TLS.Identity(certificatePath: "a.pem")
        var request = Request(url: try #require(URL(string: url)), type: .fetchComponent)
        for ofRequest in [nil, options] {
            // The client passes its options along with a request that changes one of them.
            request.options = ofRequest
            let built = try builder.build(request, options: options, .collect).options
            #expect((built.authentication != nil) == isShown)
            #expect((built.identity != nil) == isShown)
        }
        // The request's own options apply to its target.
        var own = options
        own.authentication = .bearer("other")
        own.identity = TLS.Identity(certificatePath: "b.pem")
        request.options = own
        #expect(try builder.build(request, options: options, .collect).options == own)
    }

    // MARK: - Queries

    @Test("row 1: a form's query is appended to the existing one", arguments: [FormRemoteAction.Method.get, .delete])
    func formQueryIsAppendedToTheExistingQuery(method: FormRemoteAction.Method) throws {
        let message = try builder.message("http://h/p?a=1&b=%2F", .form(method, ["k": "v"]))
        #expect(message.url == "http://h/p?a=1&b=%2F&k=v")
        #expect(message.method == method.rawValue)
    }

    @Test(
        "row 2: a form without values leaves the URL unchanged",
        arguments: ["http://h/p", "http://h/p?a=1", "http://h/p?"]
    )
    func formWithoutValuesLeavesTheURLUnchanged(url: String) throws {
        #expect(try builder.message(url, .form(.get)).url == url)
        var omitting = builder
        omitting.emptyFields = .omit
        #expect(try omitting.message(url, .form(.get, ["a": ""])).url == url)
    }

    @Test("row 3: empty values are kept everywhere, or omitted everywhere")
    func emptyValuesAreTreatedAlikeInQueryAndBody() throws {
        let fields = [FormField("a", ""), FormField("b", .null), FormField("c", "x"), FormField("d", 0)]
        func message(_ method: FormRemoteAction.Method, _ builder: HttpRequestBuilder) throws -> Message {
            try builder.message("http://h/", .submitForm(.init(method: method, fields: fields)))
        }
        #expect(try message(.get, builder).url == "http://h/?a=&b=&c=x&d=0")
        #expect(try message(.put, builder).body == #"{"a":"","b":null,"c":"x","d":0}"#)
        var omitting = builder
        omitting.emptyFields = .omit
        #expect(try message(.get, omitting).url == "http://h/?c=x&d=0")
        #expect(try message(.put, omitting).body == #"{"c":"x","d":0}"#)
    }

    @Test("row 4: values are sent in input order; those of a dictionary are sorted by name")
    func queryKeepsTheInputOrder() throws {
        let values = Dictionary(uniqueKeysWithValues: (10..<60).map { ("k\($0)", "v") })
        let expected = (10..<60).map { "k\($0)=v" }.joined(separator: "&")
        #expect(try builder.message("http://h/", .form(.get, values)).url == "http://h/?" + expected)
        let fields = [FormField("b", "1"), FormField("a", "2"), FormField("b", "3")]
        let form = Request.FormData(method: .get, fields: fields)
        #expect(try builder.message("http://h/", .submitForm(form)).url == "http://h/?b=1&a=2&b=3")
    }

    private static let queryNamesAndValuesAreEncodedArguments: [(String, String)] = [
        ("a+b", "a%2Bb"), ("a b", "a%20b"), ("a&b=c", "a%26b%3Dc"), ("a%20", "a%2520"),
        ("é😀", "%C3%A9%F0%9F%98%80"),
        ("#/?;", "%23%2F%3F%3B"), ("-._~", "-._~"), ("\r\n\0", "%0D%0A%00"),
    ]

    @Test(
        "row 5: names and values are encoded; + and space in a form that every server reads alike",
        arguments: Self.queryNamesAndValuesAreEncodedArguments
    )
    func queryNamesAndValuesAreEncoded(text: String, expected: String) throws {
        #expect(try builder.message("http://h/", .form(.get, [text: text])).url == "http://h/?\(expected)=\(expected)")
        let items = [URLQueryItem(name: text, value: text)]
        #expect(try builder.message("http://h/", query: items).url == "http://h/?\(expected)=\(expected)")
    }

    @Test func queryItemsAreAppendedToTheQuery() throws {
        let items = [
            URLQueryItem(name: "b", value: nil), URLQueryItem(name: "c", value: ""),
            URLQueryItem(name: "b", value: "2"),
        ]
        #expect(try builder.message("http://h", query: items).url == "http://h/?b&c=&b=2")
        #expect(try builder.message("http://h/?a=1&", query: items).url == "http://h/?a=1&b&c=&b=2")
        #expect(
            try builder.message("http://h/?a", .form(.get, ["f": "x"]), query: items).url == "http://h/?a&f=x&b&c=&b=2"
        )
        #expect(try builder.message("http://h/?", query: items).url == "http://h/?b&c=&b=2")
    }

    // MARK: - Bodies

    private static let misplacedBodyIsRejectedArguments: [(Request.RequestType, HttpAdditionalData.Method)] = [
        (.form(.get, ["a": "b"]), .POST), (.form(.delete), .POST), (.fetchComponent, .GET), (.fetchImage, .HEAD),
    ]

    @Test(
        "row 6: a body that the method cannot have is rejected, never dropped",
        arguments: Self.misplacedBodyIsRejectedArguments
    )
    func misplacedBodyIsRejected(type: Request.RequestType, method: HttpAdditionalData.Method) throws {
        var data = post("{}")
        data.httpData?.method = method
        let error = builder.refusal("http://h/", type, data)
        #expect(error?.kind == .badRequest)
        #expect(error?.message.contains("cannot have a body") == true)
        #expect(error?.advice?.contains("POST") == true)
    }

    @Test("row 6: an empty body counts as no body", arguments: [HttpAdditionalData.Method.GET, .HEAD, .POST, .DELETE])
    func emptyBodyCountsAsNoBody(method: HttpAdditionalData.Method) throws {
        let data = HttpAdditionalData(httpData: .init(method: method))
        let message = try builder.message("http://h/", .fetchComponent, data)
        #expect(message.method == method.rawValue)
        #expect(message.body == nil)
        #expect(!message.headers.contains { $0.hasPrefix("Content-Type") })
        #expect(try builder.message("http://h/", .form(.get), data).body == nil)
    }

    @Test(
        "row 43: a screen body with an unevaluated expression is rejected",
        arguments: [#"{"a":"@{ctx.token}"}"#, "@{a}", #"{"a":"\\\\@{ctx.token}"}"#, #"["hi @{", "@{ctx.token}"]"#]
    )
    func unevaluatedExpressionInAScreenBodyIsRejected(body: String) {
        let error = builder.refusal("http://h/", .fetchComponent, post(body))
        #expect(error?.kind == .badRequest)
        #expect(error?.message.contains("@{…}") == true)
        #expect(error?.description.contains("ctx.token") == false)
    }

    @Test(
        "row 43: binary bodies, an escaped @ and text that only looks like an expression are accepted",
        arguments: [Data("\u{FF}@{a}".utf8.dropFirst()), Data(#"{"a":"\u0040{b}"}"#.utf8), Data("@{".utf8)]
            + [
                #"{"msg":"hi @{"}"#, #"{"a":"@{}"}"#, #"{"a":"@{[2]}"}"#, #"{"a":"\\@{client}"}"#, #"\@{client}"#,
                #"{"a":"@%7Bb%7D"}"#, #"{"a":"b@{","c":{}}"#,
            ].map { Data($0.utf8) }
    )
    func screenBodyWithoutExpressionsIsAccepted(body: Data) throws {
        let data = HttpAdditionalData(httpData: .init(method: .POST, body: body))
        let url = try #require(URL(string: "http://h/"))
        #expect(try builder.build(Request(url: url, type: .fetchImage, additionalData: data)).body?.data == body)
    }

    @Test("row 43: text typed into a form and an app's own body are data")
    func expressionsInFormsAndRawBodiesAreData() throws {
        #expect(try builder.message("http://h/", .form(.post, ["a": "@{b}"])).body == #"{"a":"@{b}"}"#)
        #expect(try builder.message("http://h/", .form(.get, ["a": "@{b}"])).url == "http://h/?a=%40%7Bb%7D")
        #expect(try builder.message("http://h/", .raw("POST", body: ["a": "@{b}"])).body == #"{"a":"@{b}"}"#)
        #expect(try builder.message("http://h/", .raw("POST", body: .text("@{b}"))).body == "@{b}")
    }

    private struct Marking: BodyEncoder {
        var mark: String
        func encode<Value: Encodable>(_ value: Value) throws -> Data { Data("\"\(mark)\"".utf8) }
    }

    private struct Note: Encodable, Sendable { var text = "x" }

    @Test func builderEncoderIsUsedIfTheValueHasNone() throws {
        var builder = builder
        #expect(try builder.message("http://h/", .raw("POST", body: .encodable(Note()))).body == #"{"text":"x"}"#)
        builder.bodyEncoder = Marking(mark: "builder")
        #expect(try builder.message("http://h/", .raw("POST", body: .encodable(Note()))).body == #""builder""#)
        #expect(try builder.message("http://h/", .raw("POST", body: ["a": Note()])).body == #"{"a":"builder"}"#)
        let own = Request.Body.encodable(Note(), encoder: Marking(mark: "own"))
        #expect(try builder.message("http://h/", .raw("POST", body: own)).body == #""own""#)
    }

    @Test func screensAreFetchedWithMethodAndBody() throws {
        let message = try builder.message("http://h/", .fetchComponent, post(#"{"a":1}"#))
        #expect(message.method == "POST")
        #expect(message.body == #"{"a":1}"#)
        #expect(message.headers.contains("Content-Type: application/json"))
        #expect(message.headers.contains("header: value"))
    }

    @Test(
        "row 7: the method's case does not matter, and a GET has no body",
        arguments: ["GET", "get", "Get", "head", "TRACE"]
    )
    func rawGETWithABodyIsRejected(method: String) throws {
        #expect(builder.refusal("http://h/", .raw(method, body: ["a": 1]))?.kind == .badRequest)
        #expect(try builder.message("http://h/", .raw(method)).method == method.uppercased())
        #expect(try builder.message("http://h/", .raw(method, body: .data(Data()))).body == nil)
    }

    @Test("custom methods keep their case; a method that is not a token is rejected")
    func methodMustBeAToken() throws {
        #expect(try builder.message("http://h/", .raw("Purge")).method == "Purge")
        #expect(try builder.message("http://h/", .raw("patch", body: 1)).method == "PATCH")
        #expect(try builder.message("http://h/", .raw(nil)).method == "GET")
        for method in ["", "GE T", "GET\r\n", "GET ", "MÉTHODE", "CONNECT", "connect", "po\u{17F}t"] {
            #expect(builder.refusal("http://h/", .raw(method))?.kind == .badRequest, "\(method)")
        }
    }

    @Test(
        "row 9: a raw request without a body is sent without one",
        arguments: ["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
    )
    func rawRequestHasNoBodyByDefault(method: String) throws {
        let message = try builder.message("http://h/", .raw(method))
        #expect(message.body == nil)
        #expect(!message.headers.contains { $0.hasPrefix("Content-Type") })
    }

    private struct Failing: Encodable, Sendable {
        struct Inner: Encodable, Sendable { var ratio = Double.nan }
        var inner = Inner()
    }
    private struct Foreign: Sendable {}

    @Test("row 10: a body that cannot be encoded is a build error that names the position")
    func unencodableBodyIsABuildError() throws {
        let refused: [(Request.RequestType, String)] = [
            (.raw("POST", body: ["a": [Foreign()]]), "$.a[0]"), (.raw("POST", body: Failing()), "$"),
            (.raw("POST", body: .encodable(Failing())), "inner.ratio"),
            (.raw("POST", body: .json([.number(.nan)])), "nan"),
            (.raw("POST", body: ["d": Date.distantPast]), "$.d"), (.raw("POST", body: ["n": [Double.nan]]), "$.n[0]"),
            (.raw("POST", body: ["f": Float.infinity]), "$.f"),
            (.submitForm(.init(method: .post, fields: [FormField("n", .number(.infinity))])), "inf"),
        ]
        for (type, place) in refused {
            let error = builder.refusal("http://h/", type)
            #expect(error?.kind == .badRequest)
            #expect(error?.message.contains(place) == true, "\(error?.message ?? "")")
        }
    }

    @Test("row 17: two bodies are rejected", arguments: [Request.RequestType.form(.post), .raw("POST", body: 1)])
    func requestWithTwoBodiesIsRejected(type: Request.RequestType) {
        #expect(builder.refusal("http://h/", type, post("x"))?.message.contains("two bodies") == true)
    }

    @Test func rawRequestTakesMethodAndBodyFromAdditionalData() throws {
        let message = try builder.message("http://h/", .raw(nil), post("x"))
        #expect(message.method == "POST")
        #expect(message.body == "x")
        #expect(try builder.message("http://h/", .raw("PUT"), post("x")).method == "PUT")
    }

    private static let additionalPATCHReplacesOnlyPOSTAndPUTArguments: [(FormRemoteAction.Method, String?)] = [
        (.post, "PATCH"), (.put, "PATCH"), (.get, nil), (.delete, nil),
    ]

    @Test(arguments: Self.additionalPATCHReplacesOnlyPOSTAndPUTArguments)
    func additionalPATCHReplacesOnlyPOSTAndPUT(method: FormRemoteAction.Method, expected: String?) throws {
        let patch = HttpAdditionalData(httpData: .init(method: .PATCH))
        guard let expected else {
            #expect(builder.refusal("http://h/", .form(method), patch)?.kind == .badRequest)
            return
        }
        let message = try builder.message("http://h/", .form(method), patch)
        #expect(message.method == expected)
        let plain = try builder.message("http://h/", .form(method))
        #expect(message.body == plain.body)
        let put = HttpAdditionalData(httpData: .init(method: .PUT))
        #expect(try builder.message("http://h/", .form(method), put).method == method.rawValue)
    }

    private static let bodySetsItsContentTypeArguments: [(Request.Body, String, String)] = [
        (.json(["b": 1, "a": "/"]), "application/json", #"{"a":"/","b":1}"#),
        (.text("é"), "text/plain; charset=utf-8", "é"),
        (.data(Data("x".utf8)), "application/octet-stream", "x"),
        (.data(Data("x".utf8), contentType: "a/b"), "a/b", "x"),
        (
            .form([FormField("a b", "c+d"), FormField("a b", 1)]), "application/x-www-form-urlencoded",
            "a+b=c%2Bd&a+b=1"
        ),
        (
            .form([FormField("~é*-._ %20", "!'()&=\r\n")]), "application/x-www-form-urlencoded",
            "%7E%C3%A9*-._+%2520=%21%27%28%29%26%3D%0D%0A"
        ),
        (.encodable(["a": 1]), "application/json", #"{"a":1}"#),
    ]

    @Test(arguments: Self.bodySetsItsContentTypeArguments)
    func bodySetsItsContentType(body: Request.Body, type: String, expected: String) throws {
        let message = try builder.message("http://h/", .raw("POST", body: body))
        #expect(message.body == expected)
        #expect(message.headers.filter { $0.hasPrefix("Content-Type") } == ["Content-Type: \(type)"])
        let own = try builder.message("http://h/", .raw("POST", headers: ["content-type": "x/y"], body: body))
        #expect(own.headers.filter { $0.lowercased().hasPrefix("content-type") } == ["content-type: x/y"])
    }

    private static let plainValueIsSentAsJSONArguments: [(any Sendable, String)] = [
        ([:] as [String: Int], "{}"), (["a": 1], #"{"a":1}"#), ("text", #""text""#), (1, "1"), (true, "true"),
        ([1, 2], "[1,2]"),
        (["a": [["b": true]]], #"{"a":[{"b":true}]}"#), (JSONValue.null, "null"), (Request.Body.text("t"), "t"),
    ]

    @Test(arguments: Self.plainValueIsSentAsJSONArguments)
    func plainValueIsSentAsJSON(value: any Sendable, expected: String) throws {
        #expect(try builder.message("http://h/", .raw("POST", body: value)).body == expected)
    }

    @Test func aFileIsNotReadByTheBuilder() throws {
        let request = Request(
            url: try #require(URL(string: "http://h/")),
            type: .raw("PUT", body: .file(path: "/nowhere", contentType: "image/png"))
        )
        let built = try builder.build(request)
        #expect(built.body?.data == nil)
        #expect(built.body != nil)
        #expect(built.head.headerFields[.contentType] == "image/png")
    }

    // MARK: - Options

    @Test("row 18: timeouts, redirects and limits come from the request")
    func requestOptionsAreUsed() throws {
        let url = try #require(URL(string: "http://h/"))
        let options = TransferOptions(
            timeouts: TransferOptions.Timeouts(total: .seconds(1)),
            redirects: .manual,
            maxBodyBytes: 1
        )
        #expect(try builder.build(Request(url: url, type: .fetchImage, options: options)).options == options)
        #expect(try builder.build(Request(url: url, type: .fetchImage)).options == TransferOptions())
    }

    // MARK: - Results

    @Test("row 19: the seed's result is public and complete")
    func resultIsPublicAndComplete() throws {
        let url = try #require(URL(string: "http://h/p"))
        let result = builder.build(url: url, requestType: .form(.post, ["a": "b"]), additionalData: nil)
        #expect(result.error == nil)
        #expect(result.url == url)
        #expect(result.method == "POST")
        #expect(result.headers["Content-Type"] == "application/json")
        #expect(result.body == Data(#"{"a":"b"}"#.utf8))
        #expect(result.request?.head.method == .post)
        let query = builder.build(url: url, requestType: .form(.get, ["a": "é"]), additionalData: nil)
        #expect(query.url.absoluteString == "http://h/p?a=%C3%A9")
    }

    @Test("row 10: the seed's result carries the error and no request")
    func resultOfAFailureHasNoRequest() throws {
        let url = try #require(URL(string: "http://h/p"))
        let result = builder.build(url: url, requestType: .raw("POST", body: Foreign()), additionalData: nil)
        #expect(result.error?.kind == .badRequest)
        #expect(result.request == nil)
        #expect(result.body == nil)
        #expect(result.headers.isEmpty)
        #expect(result.url == url)
    }
}
