import BeagleNet
import BeagleNetHTTP
import BeagleNetTesting
import Synchronization

@testable import BeagleNetReplay

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A secret at one place of a request or a response, in one encoding.
struct Plant: Sendable {
    let name: String
    var target = ""
    var method = "GET"
    var headers: [String: String] = [:]
    var body: Request.Body?
    var answer = LoopbackServer.Response.response(200, ["Content-Type": "application/json"], #"{"ok":true}"#)

    /// The request to a server.
    func request(to server: String) throws(NetworkError) -> Request {
        guard let url = URL(string: "\(server)/\(name)\(target)") else {
            throw NetworkError(.badRequest, during: .build, "\(name) makes no URL")
        }
        let data =
            body.map { Request.RequestData(method: method, headers: headers, body: $0) }
            ?? Request.RequestData(method: method, headers: headers)
        return Request(url: url, type: .rawRequest(data))
    }
}

extension Plant {
    private static let number = Atomic(0)

    private static var secret: String { Canary.secret(number.add(1, ordering: .relaxed).newValue) }

    /// All plants, each with its own secrets.
    static var all: [Plant] {
        heads + targets + bodies + answeredHeads + answeredBodies
    }

    // MARK: - Requests

    private static var heads: [Plant] {
        let basic = Data("ana:\(secret)".utf8).base64EncodedString()
        return [
            Plant(name: "bearer", headers: ["Authorization": "Bearer \(secret)"]),
            Plant(name: "basic", headers: ["Authorization": "Basic \(basic)"]),
            Plant(name: "scheme", headers: ["Authorization": "Own k=\"\(secret)\", \(secret)"]),
            Plant(name: "cookie", headers: ["Cookie": "a=\(secret); sid=\(secret)"]),
            Plant(
                name: "keys",
                headers: [
                    "X-Api-Key": secret, "X-CSRF-Token": secret, "DPoP": secret, "X-Amz-Security-Token": secret,
                    "X-My-Secret-Of-Mine": secret, "Private-Token": secret,
                ]
            ),
            Plant(name: "referer", headers: ["Referer": "https://a.example/x?access_token=\(secret)"]),
            Plant(name: "bearer-elsewhere", headers: ["X-Note": "sent with Bearer \(secret)"]),
            Plant(name: "json-field", headers: ["X-Context": #"{"password":"\#(secret)"}"#]),
        ]
    }

    private static var targets: [Plant] {
        [
            Plant(name: "query", target: "?page=1&access_token=\(secret)&b=2"),
            Plant(name: "query-encoded", target: "?token=\(Canary.percentEncoded(secret))"),
            Plant(name: "query-key-encoded", target: "?%74%6Fken=\(secret)"),
            Plant(name: "query-key-case", target: "?Api-Key=\(secret)&clientSecret=\(secret)"),
            Plant(name: "query-url", target: "?next=https%3A%2F%2Fa.example%2F%3Ftoken%3D\(secret)"),
            Plant(name: "query-plus", target: "?password=a+\(secret)+b"),
            Plant(name: "fragment", target: "#access_token=\(secret)"),
        ]
    }

    private static var bodies: [Plant] {
        [
            post("form", .form([FormField("name", "Ana"), FormField("password", secret)])),
            post("form-encoded", form("a=1&%70assword=\(Canary.percentEncoded(secret))&pin=+\(secret)+")),
            post("multipart", .multipart([FormField("name", "Ana"), FormField("client_secret", secret)])),
            post("multipart-file", .multipart([FormField("token", FormFile(Data(secret.utf8), filename: "a.txt"))])),
            post("json", json(#"{"a":1.10,"user":{"password":"\#(secret)"},"pins":[1],"secret":["\#(secret)"]}"#)),
            post("json-escaped", json(#"{"pass\u0077ord":"\#(Canary.escaped(secret))"}"#)),
            post("json-in-json", json(#"{"event":"{\"token\":\"\#(secret)\"}"}"#)),
            post("json-pair", json(#"[{"name":"Cookie","value":"\#(secret)"},{"value":"\#(secret)","key":"token"}]"#)),
            post(
                "json-header",
                json(#"{"X-Session-Id":"\#(secret)","a":"Cookie: a=\#(secret)\r\nb: password: \#(secret)"}"#)
            ),
            post("json-url", json(#"{"a":"b=1&next=https%3A%2F%2Fa%2F%3Fpassword%3D\#(secret)"}"#)),
            post("json-as-page", .data(Data(#"{"password":"\#(secret)"}"#.utf8), contentType: "text/html")),
            post("soap", .data(Data("<a><w:Password>\(secret)</w:Password></a>".utf8), contentType: "text/xml")),
            post("json-cut-off", json(#"{"user":{"password":"\#(secret)"}"#)),
            post("graphql", json(graphQL)),
            coded("gzip", .data(coded(secret, isGzip: true), contentType: "application/json")),
            coded("deflate", .data(coded(secret, isGzip: false), contentType: "application/x-www-form-urlencoded")),
            post("streamed", streamed(#"{"a":[1,2,3],"refresh_token":"\#(secret)","b":null}"#)),
            post("text", .text("log: Authorization: Bearer \(secret)\n\(json(webToken: secret))")),
        ]
    }

    private static func post(_ name: String, _ body: Request.Body) -> Plant {
        Plant(name: name, method: "POST", body: body)
    }

    /// A request whose content coding is its name.
    private static func coded(_ name: String, _ body: Request.Body) -> Plant {
        Plant(name: name, method: "POST", headers: ["Content-Encoding": name], body: body)
    }

    private static func json(_ text: String) -> Request.Body { .data(Data(text.utf8), contentType: "application/json") }

    private static func form(_ text: String) -> Request.Body {
        .data(Data(text.utf8), contentType: "application/x-www-form-urlencoded")
    }

    private static var graphQL: String {
        let document = #"mutation { login(user: \"ana\", password: \"\#(secret)\") { id } }"#
        return #"{"query":"\#(document)","variables":{"input":{"otp":"\#(secret)"}}}"#
    }

    /// A body that sends each byte as a chunk.
    private static func streamed(_ text: String) -> Request.Body {
        let body = HTTPBody.stream {
            AsyncStream<Data> { chunks in
                for byte in text.utf8 { chunks.yield(Data([byte])) }
                chunks.finish()
            }
        }
        return .stream(body, contentType: "application/json")
    }

    /// A JSON Web Token (RFC 7519) that holds a secret and is signed with one.
    private static func json(webToken secret: String) -> String {
        let parts = [#"{"alg":"HS256"}"#, #"{"sub":"\#(secret)"}"#].map { Data($0.utf8).base64EncodedString() }
        return (parts + ["\(secret)abcdefghijklmnop"]).joined(separator: ".").replacing("=", with: "")
    }

    /// `password=SECRET`, compressed.
    private static func coded(_ secret: String, isGzip: Bool) -> Data {
        var coded = Data()
        do {
            let deflater = try Deflater(isGzip: isGzip)
            try Array("password=\(secret)".utf8).withRawBytes { bytes throws(NetworkError) in
                try deflater.write(bytes, isLast: true) { piece throws(NetworkError) in coded.append(contentsOf: piece)
                }
            }
        } catch {
            return Data("\(error)".utf8)
        }
        return coded
    }

    // MARK: - Responses

    private static var answeredHeads: [Plant] {
        [
            answered(
                "set-cookie",
                .response(
                    200,
                    ["Set-Cookie": "sid=\(secret); Path=/", "set-cookie": "b=\(secret)", "X-Auth-Token": secret]
                )
            ),
            answered(
                "challenge",
                .response(
                    401,
                    [
                        "WWW-Authenticate": "Digest realm=\"a\", nonce=\"\(secret)\", opaque=\"\(secret)\"",
                        "Content-Type": "application/json",
                    ],
                    #"{"error":"no","token":"\#(secret)"}"#
                )
            ),
            answered("redirect", .response(302, ["Location": "/bearer?code=\(secret)&state=\(secret)"])),
            answered(
                "link",
                .response(200, ["Link": "</a?sig=\(secret)>; rel=next", "Content-Location": "/b?jwt=\(secret)"])
            ),
            answered(
                "hints",
                .sequence([
                    .raw("HTTP/1.1 103 Early Hints\r\nLink: </a?token=\(secret)>\r\n\r\n"), .response(200, [:], "x"),
                ])
            ),
            answered(
                "trailers",
                .raw(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Auth-Token\r\n\r\n"
                        + "1\r\nx\r\n0\r\nX-Auth-Token: \(secret)\r\n\r\n"
                )
            ),
        ]
    }

    private static var answeredBodies: [Plant] {
        let long = String(repeating: #"{"a":"bcdefgh"},"#, count: 2_000)
        return [
            answered("answer", as: "application/json", #"{"access_token":"\#(secret)","a":1}"#),
            answered("answer-escaped", as: "application/json", #"{"\u0070in":"\#(Canary.escaped(secret))"}"#),
            answered("answer-long", as: "application/json", #"{"a":[\#(long)1],"session":{"b":"\#(secret)"}}"#),
            answered("answer-cut-off", as: "application/json", #"{"session":{"b":"\#(secret)"#),
            answered("answer-form", as: "application/x-www-form-urlencoded", "oauth_token=\(secret)&a=b"),
            answered("answer-text", as: "text/plain", texts),
            answered(
                "answer-page",
                as: "text/html",
                "<a href=\"/x?token=\(secret)\">\(json(webToken: secret))</a>\(input)"
            ),
            answered(
                "events",
                as: "text/event-stream",
                "id: 1\ndata: {\"token\":\"\(secret)\"}\n\ndata: Bearer \(secret)\n\n"
            ),
            answered(
                "chunks",
                .chunked(
                    #"{"a":1,"password":"\#(secret)"}"#.utf8.map { Data([$0]) },
                    ["Content-Type": "application/json"]
                )
            ),
            answered(
                "answer-gzip",
                .response(
                    200,
                    ["Content-Type": "text/plain", "Content-Encoding": "gzip"],
                    coded("Bearer \(secret)", isGzip: true)
                )
            ),
            answered(
                "lost",
                .sequence([.raw("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nBearer \(secret)"), .reset])
            ),
        ]
    }

    private static var input: String { #"<input name="csrf_token" type="hidden" value="\#(secret)">"# }

    private static var texts: String {
        """
        Bearer \(secret)
        \(json(webToken: secret))
        AKIA\(secret.uppercased())ABCDE
        ghp_\(secret)abcdefghijklmnopqrstuvwxyz012345
        sk_live_\(secret)abcdefghijklmnop
        xoxb-\(secret)-abcdefghijklmnop
        -----BEGIN PRIVATE KEY-----
        \(secret)
        -----END PRIVATE KEY-----
        """
    }

    private static func answered(_ name: String, _ answer: LoopbackServer.Response) -> Plant {
        Plant(name: name, answer: answer)
    }

    private static func answered(_ name: String, as type: String, _ text: String) -> Plant {
        answered(name, .response(200, ["Content-Type": type], text))
    }
}
