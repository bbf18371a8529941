// swift-format-ignore-file
// Made from SampleRecording by `beagle log gen-test`. Call your own code with `recorded()`, and check its results.
import BeagleNet
import Foundation
import Synchronization
import Testing

/// Returns the recorded responses. A repeated request gets the next one, and finally the last one again. A request
/// that was not recorded is an error.
func recorded() -> StubClient {
    let counter = RequestCounter()
    return StubClient { request in
        let key = try await request.key
        switch (key, counter.count(key)) {
        case ("GET https://api.example.com/home", _):
            return try answer(200, ["Content-Type": "application/json", "Set-Cookie": "id=REDACTED; Path=/"], Data("{\"_beagleComponent_\":\"beagle:screenComponent\",\"price\":1.10,\"big\":12345678901234567890123,\"a\":[]}".utf8))
        case ("GET https://cdn.example.com/hero.png", _):
            return try answer(200, [:], try bytes("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="))
        case ("GET https://cdn.example.com/icon.svg", _):
            return try answer(200, [:], Data("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"120\" height=\"60\"><rect width=\"120\" height=\"60\" rx=\"8\" fill=\"#4f8ff7\"/><script>document.title=\"pwned\"</script></svg>".utf8))
        case ("GET https://api.example.com/offers?token=REDACTED&page=1", _):
            return try answer(200, [:], Data("{\"text\":\"</script><script>document.title=\\\"pwned\\\"</script><img src=x onerror=\\\"document.title='pwned'\\\">'\\\"&<!--\"}".utf8))
        case ("GET https://api.example.com/old", _):
            return try answer(301, [:], Data("".utf8))
        case ("POST https://api.example.com/login {\"email\":\"ana@example.com\",\"password\":\"REDACTED\"}", _):
            return try answer(422, [:], Data("{\"errors\":[{\"field\":\"email\"}]}".utf8))
        case ("POST https://api.example.com/graphql", _):
            return try answer(200, [:], Data("{\"data\":null}".utf8))
        case ("GET https://api.example.com/profile", _):
            return try answer(200, [:], Data("".utf8))
        case ("GET https://api.example.com/slow", _):
            return try answer(503, [:], Data("".utf8))
        case ("GET https://api.example.com/down%3C/script%3E%3Cscript%3Edocument.title=%22pwned%22%3C/script%3E%3Cimg%20src=x%20onerror=%22document.title='pwned'%22%3E'%22&%3C!--", _):
            throw NetworkError(.network, during: .firstByte, "timeout: nothing came </script><script>document.title=\"pwned\"</script><img src=x onerror=\"document.title='pwned'\">'\"&<!--")
        case ("GET https://fonts.example.com/css?family=Roboto%7COpen+Sans", _):
            return try answer(200, [:], Data("{\"text\":\"\\u0000 \\\\(1) é\\u0301 \\u202e\"}".utf8))
        case ("GET https://api.example.com/gone", _):
            throw NetworkError(.network, during: .firstByte, "no response was recorded")
        case ("POST https://api.example.com/graphql {\"query\":\"query Offers { offers }\"}", _):
            return try answer(200, [:], Data("{\"data\":{\"offers\":[]}}".utf8))
        case ("POST https://api.example.com/graphql {\"query\":\"query Me { me }\"}", _):
            return try answer(200, [:], Data("{\"data\":{\"me\":1}}".utf8))
        case ("POST https://api.example.com/login {\"email\":\"bo@example.com\",\"password\":\"REDACTED\"}", 0):
            return try answer(200, [:], Data("{\"ok\":1}".utf8))
        case ("POST https://api.example.com/login {\"email\":\"bo@example.com\",\"password\":\"REDACTED\"}", _):
            return try answer(200, [:], Data("{\"ok\":true}".utf8))
        case ("POST https://api.example.com/bytes /wA=", _):
            return try answer(200, [:], Data("1".utf8))
        case ("POST https://api.example.com/upload", _):
            return try answer(200, [:], Data("1".utf8))
        case ("GET https://api.example.com/state", 0):
            return try answer(503, [:], Data("0".utf8))
        case ("GET https://api.example.com/state", 1):
            return try answer(200, [:], Data("[1]".utf8))
        case ("GET https://api.example.com/state", _):
            return try answer(200, [:], Data("[2]".utf8))
        default:
            throw NetworkError(.notStored, during: .build, "no response was recorded for \(key)")
        }
    }
}

@Suite struct RecordedTests {
    @Test func getHome() async throws {
        let client = recorded()
        let sent = try request("GET", "https://api.example.com/home")
        let answer = try await client.executeRequest(sent)
        #expect(answer.status.code == 200)
        #expect(answer.data.count == 96)
    }

    @Test func getHeroPng() async throws {
        let client = recorded()
        let sent = try request("GET", "https://cdn.example.com/hero.png")
        let answer = try await client.executeRequest(sent)
        #expect(answer.status.code == 200)
        #expect(answer.data.count == 70)
    }

    @Test func getIconSvg() async throws {
        let client = recorded()
        let sent = try request("GET", "https://cdn.example.com/icon.svg")
        let answer = try await client.executeRequest(sent)
        #expect(answer.status.code == 200)
        #expect(answer.data.count == 162)
    }

    @Test func getOffers() async throws {
        let client = recorded()
        let sent = try request("GET", "https://api.example.com/offers?token=REDACTED&page=1")
        let answer = try await client.executeRequest(sent)
        #expect(answer.status.code == 200)
        #expect(answer.data.count == 115)
    }

    @Test func getOld() async throws {
        let client = recorded()
        let sent = try request("GET", "https://api.example.com/old")
        let error = await #expect(throws: NetworkError.self) { try await client.executeRequest(sent) }
        #expect(error?.kind == .status)
        #expect(error?.response?.status.code == 301)
    }

    @Test func postLogin() async throws {
        let client = recorded()
        let sent = try request("POST", "https://api.example.com/login", "application/json", Data("{\"email\":\"ana@example.com\",\"password\":\"REDACTED\"}".utf8))
        let error = await #expect(throws: NetworkError.self) { try await client.executeRequest(sent) }
        #expect(error?.kind == .status)
        #expect(error?.response?.status.code == 422)
    }

    @Test func postGraphql() async throws {
        let client = recorded()
        let sent = try request("POST", "https://api.example.com/graphql")
        let answer = try await client.executeRequest(sent)
        #expect(answer.status.code == 200)
        #expect(answer.data.count == 13)
    }

    @Test func getProfile() async throws {
        let client = recorded()
        let sent = try request("GET", "https://api.example.com/profile")
        let answer = try await client.executeRequest(sent)
        #expect(answer.status.code == 200)
        #expect(answer.data.count == 0)
    }

    @Test func getSlow() async throws {
        let client = recorded()
        let sent = try request("GET", "https://api.example.com/slow")
        let error = await #expect(throws: NetworkError.self) { try await client.executeRequest(sent) }
        #expect(error?.kind == .status)
        #expect(error?.response?.status.code == 503)
    }

    @Test func getOnerrorDocumentTitlePwned() async throws {
        let client = recorded()
        let sent = try request("GET", "https://api.example.com/down</script><script>document.title=\"pwned\"</script><img src=x onerror=\"document.title='pwned'\">'\"&<!--")
        let error = await #expect(throws: NetworkError.self) { try await client.executeRequest(sent) }
        #expect(error?.kind == .network)
    }

    @Test func getCss() async throws {
        let client = recorded()
        let sent = try request("GET", "https://fonts.example.com/css?family=Roboto|Open+Sans")
        let answer = try await client.executeRequest(sent)
        #expect(answer.status.code == 200)
        #expect(answer.data.count == 39)
    }

    @Test func getGone() async throws {
        let client = recorded()
        let sent = try request("GET", "https://api.example.com/gone")
        let error = await #expect(throws: NetworkError.self) { try await client.executeRequest(sent) }
        #expect(error?.kind == .network)
    }

    @Test func postGraphql_2() async throws {
        let client = recorded()
        let sent = try request("POST", "https://api.example.com/graphql", "application/json", Data("{\"query\":\"query Offers { offers }\"}".utf8))
        let answer = try await client.executeRequest(sent)
        #expect(answer.status.code == 200)
        #expect(answer.data.count == 22)
    }

    @Test func postGraphql_3() async throws {
        let client = recorded()
        let sent = try request("POST", "https://api.example.com/graphql", "application/json", Data("{\"query\":\"query Me { me }\"}".utf8))
        let answer = try await client.executeRequest(sent)
        #expect(answer.status.code == 200)
        #expect(answer.data.count == 17)
    }

    @Test func postLogin_2() async throws {
        let client = recorded()
        let sent = try request("POST", "https://api.example.com/login", "application/json", Data("{\"email\":\"bo@example.com\",\"password\":\"REDACTED\"}".utf8))
        let answer = try await client.executeRequest(sent)
        #expect(answer.status.code == 200)
        #expect(answer.data.count == 8)
        let answer2 = try await client.executeRequest(sent)
        #expect(answer2.status.code == 200)
        #expect(answer2.data.count == 11)
    }

    @Test func postBytes() async throws {
        let client = recorded()
        let sent = try request("POST", "https://api.example.com/bytes", "application/octet-stream", try bytes("/wA="))
        let answer = try await client.executeRequest(sent)
        #expect(answer.status.code == 200)
        #expect(answer.data.count == 1)
    }

    @Test func postUpload() async throws {
        let client = recorded()
        let sent = try request("POST", "https://api.example.com/upload", "multipart/form-data; boundary=b", Data("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b--\r\n".utf8))
        let answer = try await client.executeRequest(sent)
        #expect(answer.status.code == 200)
        #expect(answer.data.count == 1)
    }

    @Test func getState() async throws {
        let client = recorded()
        let sent = try request("GET", "https://api.example.com/state")
        let error = await #expect(throws: NetworkError.self) { try await client.executeRequest(sent) }
        #expect(error?.kind == .status)
        #expect(error?.response?.status.code == 503)
        let answer2 = try await client.executeRequest(sent)
        #expect(answer2.status.code == 200)
        #expect(answer2.data.count == 3)
        let answer3 = try await client.executeRequest(sent)
        #expect(answer3.status.code == 200)
        #expect(answer3.data.count == 3)
    }
}

private func request(_ method: String, _ url: String, _ type: String? = nil, _ body: Data? = nil) throws -> Request {
    var data = Request.RequestData(method: method)
    if let body { data.content = .data(body, contentType: type ?? "application/octet-stream") }
    return Request(url: try UrlBuilder().url(for: url), type: .rawRequest(data))
}

private func answer(_ status: Int, _ fields: KeyValuePairs<String, String>, _ body: Data) throws -> NetworkResponse {
    var head = HTTPResponse(status: HTTPResponse.Status(code: status))
    for (name, value) in fields {
        head.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
    }
    return NetworkResponse(data: body, response: head)
}

/// Bytes that are not text.
private func bytes(_ base64: String) throws -> Data { try #require(Data(base64Encoded: base64)) }

/// Counts how often each request was sent before.
private final class RequestCounter: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    func count(_ key: String) -> Int {
        counts.withLock { counts in
            defer { counts[key, default: 0] += 1 }
            return counts[key, default: 0]
        }
    }
}

extension Request {
    /// Method, URL and body without secrets, as in the recording. The body of a multipart form is left out, because its
    /// boundary is different each time.
    fileprivate var key: String {
        get async throws {
            let message = try HttpRequestBuilder().build(self)
            let (head, redactor) = (message.head, Redactor())
            let url = redactor.redact(url: "\(head.scheme ?? "")://\(head.authority ?? "")\(head.path ?? "")")
            let title = "\(head.method.rawValue) \(url)"
            let type = head.headerFields[.contentType]
            guard let body = try await message.body?.collect(), !body.isEmpty, type?.hasPrefix("multipart/") != true,
                case .body(let sent) = redactor.redact(body: body, contentType: type)
            else { return title }
            return "\(title) \(String(data: sent, encoding: .utf8) ?? sent.base64EncodedString())"
        }
    }
}
