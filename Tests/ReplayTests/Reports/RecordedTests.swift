// swift-format-ignore-file
// Made of SampleRecording by `beagle log gen-test`. Let your own code ask `recorded`, and say what must come of it.
import BeagleNet
import Foundation
import Testing

/// Answers as they were recorded; what was not recorded is an error.
let recorded = StubClient { request in
    switch "\(request.method) \(request.url)" {
    case "GET https://api.example.com/home":
        return try answer(200, ["Content-Type": "application/json", "Set-Cookie": "id=REDACTED; Path=/"], Data("{\"_beagleComponent_\":\"beagle:screenComponent\",\"price\":1.10,\"big\":12345678901234567890123,\"a\":[]}".utf8))
    case "GET https://cdn.example.com/hero.png":
        return try answer(200, [:], try #require(Data(base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")))
    case "GET https://cdn.example.com/icon.svg":
        return try answer(200, [:], Data("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"120\" height=\"60\"><rect width=\"120\" height=\"60\" rx=\"8\" fill=\"#4f8ff7\"/><script>document.title=\"pwned\"</script></svg>".utf8))
    case "GET https://api.example.com/offers?token=REDACTED&page=1":
        return try answer(200, [:], Data("{\"text\":\"</script><script>document.title=\\\"pwned\\\"</script><img src=x onerror=\\\"document.title='pwned'\\\">'\\\"&<!--\"}".utf8))
    case "GET https://api.example.com/old":
        return try answer(301, [:], Data("".utf8))
    case "POST https://api.example.com/login":
        return try answer(422, [:], Data("{\"errors\":[{\"field\":\"email\"}]}".utf8))
    case "POST https://api.example.com/graphql":
        return try answer(200, [:], Data("{\"data\":null}".utf8))
    case "GET https://api.example.com/profile":
        return try answer(200, [:], Data("".utf8))
    case "GET https://api.example.com/slow":
        return try answer(503, [:], Data("".utf8))
    case "GET https://api.example.com/down%3C/script%3E%3Cscript%3Edocument.title=%22pwned%22%3C/script%3E%3Cimg%20src=x%20onerror=%22document.title='pwned'%22%3E'%22&%3C!--":
        throw NetworkError(.network, during: .firstByte, "timeout: nothing came </script><script>document.title=\"pwned\"</script><img src=x onerror=\"document.title='pwned'\">'\"&<!--")
    case "GET https://fonts.example.com/css?family=Roboto%7COpen+Sans":
        return try answer(200, [:], Data("{\"text\":\"\\u0000 \\\\(1) é\\u0301 \\u202e\"}".utf8))
    case "GET https://api.example.com/gone":
        throw NetworkError(.network, during: .firstByte, "no answer was recorded")
    default:
        throw NetworkError(.notStored, during: .build, "nothing was recorded for \(request.method) \(request.url)")
    }
}

@Suite struct RecordedTests {
    @Test func getHome() async throws {
        let answer = try await recorded.executeRequest(request("GET", "https://api.example.com/home"))
        #expect(answer.status.code == 200)
        #expect(answer.data.count == 96)
    }

    @Test func getHeroPng() async throws {
        let answer = try await recorded.executeRequest(request("GET", "https://cdn.example.com/hero.png"))
        #expect(answer.status.code == 200)
        #expect(answer.data.count == 70)
    }

    @Test func getIconSvg() async throws {
        let answer = try await recorded.executeRequest(request("GET", "https://cdn.example.com/icon.svg"))
        #expect(answer.status.code == 200)
        #expect(answer.data.count == 162)
    }

    @Test func getOffers() async throws {
        let answer = try await recorded.executeRequest(request("GET", "https://api.example.com/offers?token=REDACTED&page=1"))
        #expect(answer.status.code == 200)
        #expect(answer.data.count == 115)
    }

    @Test func getOld() async throws {
        let error = await #expect(throws: NetworkError.self) { try await recorded.executeRequest(request("GET", "https://api.example.com/old")) }
        #expect(error?.kind == .status)
        #expect(error?.response?.status.code == 301)
    }

    @Test func postLogin() async throws {
        let error = await #expect(throws: NetworkError.self) { try await recorded.executeRequest(request("POST", "https://api.example.com/login")) }
        #expect(error?.kind == .status)
        #expect(error?.response?.status.code == 422)
    }

    @Test func postGraphql() async throws {
        let answer = try await recorded.executeRequest(request("POST", "https://api.example.com/graphql"))
        #expect(answer.status.code == 200)
        #expect(answer.data.count == 13)
    }

    @Test func getProfile() async throws {
        let answer = try await recorded.executeRequest(request("GET", "https://api.example.com/profile"))
        #expect(answer.status.code == 200)
        #expect(answer.data.count == 0)
    }

    @Test func getSlow() async throws {
        let error = await #expect(throws: NetworkError.self) { try await recorded.executeRequest(request("GET", "https://api.example.com/slow")) }
        #expect(error?.kind == .status)
        #expect(error?.response?.status.code == 503)
    }

    @Test func getOnerrorDocumentTitlePwned() async throws {
        let error = await #expect(throws: NetworkError.self) { try await recorded.executeRequest(request("GET", "https://api.example.com/down</script><script>document.title=\"pwned\"</script><img src=x onerror=\"document.title='pwned'\">'\"&<!--")) }
        #expect(error?.kind == .network)
    }

    @Test func getCss() async throws {
        let answer = try await recorded.executeRequest(request("GET", "https://fonts.example.com/css?family=Roboto|Open+Sans"))
        #expect(answer.status.code == 200)
        #expect(answer.data.count == 39)
    }

    @Test func getGone() async throws {
        let error = await #expect(throws: NetworkError.self) { try await recorded.executeRequest(request("GET", "https://api.example.com/gone")) }
        #expect(error?.kind == .network)
    }
}

private func request(_ method: String, _ url: String) throws -> Request {
    Request(url: try #require(URL(string: url)), type: .rawRequest(Request.RequestData(method: method)))
}

private func answer(_ status: Int, _ fields: KeyValuePairs<String, String>, _ body: Data) throws -> NetworkResponse {
    var head = HTTPResponse(status: HTTPResponse.Status(code: status))
    for (name, value) in fields {
        head.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
    }
    return NetworkResponse(data: body, response: head)
}

extension Request {
    fileprivate var method: String {
        switch type {
        case .fetchComponent, .fetchImage: "GET"
        case .submitForm(let form): form.method.rawValue
        case .rawRequest(let data): data.method ?? "GET"
        }
    }
}
