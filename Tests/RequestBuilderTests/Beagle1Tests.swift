import BeagleNetHTTP
import BeagleNetRequestBuilder
import Foundation
import Testing

/// The wire output of Beagle 1.10.3, flaws included.
struct Beagle1Tests {
    private let builder = HttpRequestBuilder(compatibility: .beagle1)
    private let defaults = ["Content-Type: application/json", "beagle-platform: IOS"]

    private func additional(_ body: String = "") -> HttpAdditionalData {
        HttpAdditionalData(httpData: .init(method: .POST, body: Data(body.utf8)), headers: ["header": "header"])
    }

    @Test(arguments: [Request.RequestType.fetchComponent, .fetchImage])
    func fetchRequestsMatchBeagle1(type: Request.RequestType) throws {
        #expect(
            try builder.message("http://h/?a=1", type)
                == Message(method: "GET", url: "http://h/?a=1", headers: defaults, body: nil)
        )
        #expect(
            try builder.message("http://h/", type, additional())
                == Message(method: "POST", url: "http://h/", headers: defaults + ["header: header"], body: "")
        )
        #expect(
            try builder.message(
                "http://h/",
                type,
                HttpAdditionalData(httpData: .init(method: .GET, body: Data("x".utf8)))
            ).body == "x"
        )
    }

    private static let formsMatchBeagle1Arguments: [(FormRemoteAction.Method, [String: String], String, String?)] = [
        (.get, ["key": "value"], "http://h/?key=value", nil),
        (.delete, ["key": "value"], "http://h/?key=value", nil),
        (.get, [:], "http://h/?", nil), (.delete, ["empty": ""], "http://h/?", nil),
        (.post, ["key": "value"], "http://h/?a=1", #"{"key":"value"}"#), (.put, [:], "http://h/?a=1", "{}"),
        (.post, ["b": "", "a": "x/y"], "http://h/?a=1", #"{"a":"x\/y","b":""}"#),
        (.get, ["b": "a+b c", "a": "é&=/?:"], "http://h/?a=%C3%A9%26%3D/?:&b=a+b%20c", nil),
    ]

    @Test(arguments: Self.formsMatchBeagle1Arguments)
    func formsMatchBeagle1(method: FormRemoteAction.Method, values: [String: String], url: String, body: String?) throws
    {
        #expect(
            try builder.message("http://h/?a=1", .form(method, values))
                == Message(method: method.rawValue, url: url, headers: defaults, body: body)
        )
        let withData = try builder.message("http://h/?a=1", .form(method, values), additional())
        #expect(
            withData
                == Message(method: method.rawValue, url: url, headers: defaults + ["header: header"], body: body ?? "")
        )
        #expect(try builder.message("http://h/?a=1", .form(method, values), additional("x")).body == body ?? "x")
    }

    @Test func queryIsEncodedLikeURLComponents() throws {
        let all = String(String.UnicodeScalarView((0x20..<0x17F).compactMap(Unicode.Scalar.init(_:))))
        var components = try #require(URLComponents(string: "http://h/?old=1"))
        components.queryItems = [URLQueryItem(name: all, value: all)]
        #expect(try builder.message("http://h/?old=1", .form(.get, [all: all])).url == components.url?.absoluteString)
    }

    private static let rawRequestsMatchBeagle1Arguments: [(String?, (any Sendable)?, String?)] = [
        ("GET", nil, nil), (nil, nil, nil), ("GET", ["a": 1], nil), ("POST", nil, "{}"), ("DELETE", nil, "{}"),
        ("HEAD", nil, "{}"), ("get", nil, "{}"), ("get", ["a": 1], #"{"a":1}"#), ("PUT", "x/y", #""x\/y""#),
        (
            "POST", ["b": [true, 1.5] as [any Sendable], "a": "é\u{1}"] as [String: any Sendable],
            #"{"a":"é\u0001","b":[true,1.5]}"#
        ),
    ]

    @Test(arguments: Self.rawRequestsMatchBeagle1Arguments)
    func rawRequestsMatchBeagle1(method: String?, value: (any Sendable)?, body: String?) throws {
        var builder = builder
        builder.additionalHeaders = ["App": "1"]
        let message = try builder.message(
            "http://h/",
            .raw(method, headers: ["own": "2"], body: value),
            additional("x")
        )
        #expect(message == Message(method: method ?? "GET", url: "http://h/", headers: ["own: 2"], body: body))
        #expect(try builder.message("http://h/", .raw(method, headers: nil, body: value)).headers == [])
    }

    @Test("JSON is written like Foundation's, apart from the order of members")
    func jsonMatchesFoundation() throws {
        let text = String(String.UnicodeScalarView((0x00..<0x17F).compactMap(Unicode.Scalar.init(_:)))) + "\u{2028}😀"
        let bodies: [any Sendable] = [
            ["k": text], ["k": [1, -5, Int.max]], ["k": [0.5, -1.25, 1e-7]], [1.0, -0.0, 1e20, 0.1, 1e16],
            [Float(0.1), 1, 3e10], [UInt64.max], [Decimal(string: "12345678901234567890.25") ?? 0], [true, false],
            ["k": [String: Int]()],
            [[Int]()], "fragment", 7,
        ]
        for body in bodies {
            let expected = try JSONSerialization.data(withJSONObject: body, options: [.fragmentsAllowed])
            let message = try builder.message("http://h/", .raw("POST", body: body))
            #expect(message.body == String(decoding: expected, as: UTF8.self))
        }
    }

    @Test func formsKeepTheirEncoding() throws {
        let body = Request.Body.form([FormField("a b~", "c+d")])
        #expect(try builder.message("http://h/", .raw("POST", body: body)).body == "a%20b~=c%2Bd")
    }

    @Test("header names that differ only in case are joined, as URLRequest.addValue does")
    func headersThatDifferOnlyInCaseAreJoined() throws {
        var builder = builder
        builder.additionalHeaders = ["content-type": "text/plain", "beagle-platform": "X", "header": "app"]
        let message = try builder.message("http://h/", .fetchComponent, additional())
        #expect(message.headers == ["Content-Type: application/json,text/plain", "beagle-platform: X", "header: app"])
    }

    private struct Other: RemoteScreenAdditionalData {
        var headers = ["Tag": "1"]
    }

    @Test func otherAdditionalDataIsIgnored() throws {
        #expect(try builder.message("http://h/", .fetchComponent, Other()).headers == defaults)
    }

    @Test func appWideHeadersAreSentEverywhereUnlessOriginsAreDeclared() throws {
        var builder = builder
        builder.additionalHeaders = ["App": "1"]
        builder.baseURL = URL(string: "https://own")
        #expect(try builder.message("http://other/").headers.contains("App: 1"))
        builder.origins = Set([URL(string: "https://own").flatMap(Origin.init(_:))].compactMap { $0 })
        #expect(try !builder.message("http://other/").headers.contains("App: 1"))
        #expect(try builder.message("/").headers.contains("App: 1"))
    }

    @Test func rawRequestsHaveNoOriginScopedHeaders() throws {
        var builder = builder
        builder.additionalHeaders = ["App": "1"]
        let url = try #require(URL(string: "http://h/"))
        #expect(try builder.build(Request(url: url, type: .raw("GET", headers: ["App": "2"]))).originScopedFields == [])
        #expect(try builder.build(Request(url: url, type: .fetchImage)).originScopedFields.count == 1)
    }

    @Test func unencodableBodyIsStillRejected() {
        #expect(builder.refusal("http://h/", .raw("POST", body: [Date.distantPast]))?.kind == .badRequest)
    }
}
