import BeagleNet
import BeagleNetTesting
import BeagleNetURLSession
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct BridgeTests {
    private let url = URL(string: "http://127.0.0.1:8080/a%20b?c=d")!

    // MARK: requests and responses

    @Test func requestRoundTripsThroughURLRequest() throws {
        let head = HTTPRequest(method: .put, url: url, headerFields: [.accept: "text/plain", .userAgent: "me"])
        let request = try URLRequest(TransferRequest(head, body: HTTPBody("body")))
        #expect(request.url?.absoluteString == url.absoluteString)
        let transfer = try TransferRequest(request)
        #expect(transfer.head == head)
        #expect(transfer.body?.data == Data("body".utf8))
        #expect(transfer.options.timeouts.idle == .seconds(100))
    }

    private static let requestWithoutAnHTTPURLIsRejectedArguments: [(HTTPRequest, NetworkError.Kind)] = [
        (HTTPRequest(method: .get, scheme: "ftp", authority: "a", path: "/"), NetworkError.Kind.unsupportedScheme),
        (HTTPRequest(method: .get, scheme: "http", authority: "", path: "/"), .badURL),
        (HTTPRequest(method: .get, scheme: nil, authority: "a", path: "/"), .unsupportedScheme),
    ]

    @Test(arguments: Self.requestWithoutAnHTTPURLIsRejectedArguments)
    func requestWithoutAnHTTPURLIsRejected(head: HTTPRequest, kind: NetworkError.Kind) {
        let error = #expect(throws: NetworkError.self) { try URLRequest(head) }
        #expect(error?.kind == kind)
        #expect(error?.phase == .build)
    }

    private static let escapesOfARequestAreKeptArguments: [(String, String)] = [
        ("/a%20b|c", "/a%20b%7Cc"), ("/?u=%2F|100%", "/?u=%2F%7C100%25"), ("/%C3%A9", "/%C3%A9"),
    ]

    @Test(arguments: Self.escapesOfARequestAreKeptArguments) func escapesOfARequestAreKept(
        path: String,
        expected: String
    )
        throws
    {
        let head = HTTPRequest(method: .get, scheme: "http", authority: "bücher.de", path: path)
        #expect(try URLRequest(head).url?.absoluteString == "http://xn--bcher-kva.de" + expected)
    }

    @Test func cookiesOfARequestAreJoinedIntoOneField() throws {
        var head = HTTPRequest(method: .get, url: url, headerFields: [.accept: "text/plain"])
        head.headerFields[.cookie] = "a=1; b=2"
        #expect(head.headerFields[values: .cookie].count == 2)
        let request = try URLRequest(head)
        #expect(request.value(forHTTPHeaderField: "Cookie") == "a=1; b=2")
        #expect(request.value(forHTTPHeaderField: "Accept") == "text/plain")
    }

    @Test func bodyThatIsNotInMemoryIsRejected() throws {
        let head = HTTPRequest(method: .put, url: url)
        let error = #expect(throws: NetworkError.self) {
            try URLRequest(TransferRequest(head, body: .file(path: "/dev/null")))
        }
        #expect(error?.kind == .badRequest)
    }

    @Test(arguments: ["/path", "http:", "mailto:a"])
    func urlRequestWithoutAHostIsRejected(text: String) throws {
        let request = URLRequest(url: try #require(URL(string: text)))
        #expect(HTTPRequest(request) == nil)
        #expect(throws: NetworkError.self) { try TransferRequest(request) }
    }

    @Test func urlRequestWithAStreamIsRejected() {
        var request = URLRequest(url: url)
        request.httpBodyStream = InputStream(data: Data("body".utf8))
        #expect(throws: NetworkError.self) { try TransferRequest(request) }
    }

    @Test func responseRoundTripsThroughHTTPURLResponse() throws {
        let head = HTTPResponse(status: .created, headerFields: [.contentType: "text/plain", .eTag: "1"])
        let response = try #require(HTTPURLResponse(head, url: url))
        #expect(response.url == url)
        #expect(HTTPResponse(response).status == .created)
        #expect(HTTPResponse(response).headerFields == head.headerFields)
    }

    @Test func repeatedTypeAndLengthAreJoinedForFoundation() throws {
        var head = HTTPResponse(status: .ok)
        for _ in 1...2 {
            head.headerFields.append(HTTPField(name: .contentType, value: "text/plain; charset=utf-8"))
            head.headerFields.append(HTTPField(name: .contentLength, value: "5"))
            head.headerFields.append(HTTPField(name: .vary, value: "a"))
        }
        let response = try #require(HTTPURLResponse(head, url: url))
        #expect(response.mimeType == "text/plain")
        #expect(response.expectedContentLength == 5)
        #expect(response.value(forHTTPHeaderField: "Vary") == "a, a")
    }

    @Test func responseWithoutHTTPCountsAsASuccess() {
        let file = URLResponse(
            url: URL(fileURLWithPath: "/f"),
            mimeType: "text/plain",
            expectedContentLength: 1,
            textEncodingName: nil
        )
        let response = NetworkResponse(data: Data("f".utf8), response: file)
        #expect(response.response.status == .ok)
        #expect(response.response.headerFields[.contentType] == "text/plain")
        #expect(response.url == "file:///f")
    }

    // MARK: errors

    private static let urlErrorCodeDeterminesTheKindArguments: [(URLError.Code, NetworkError.Kind)] = [
        (.timedOut, .timeout), (.cancelled, .cancelled), (.cannotFindHost, .dns), (.cannotConnectToHost, .connect),
        (.networkConnectionLost, .network), (.secureConnectionFailed, .tls), (.unknown, .other),
    ]

    @Test(arguments: Self.urlErrorCodeDeterminesTheKindArguments)
    func urlErrorCodeDeterminesTheKind(code: URLError.Code, kind: NetworkError.Kind) {
        let error = NetworkError(error: URLError(code), request: URLRequest(url: url))
        #expect(error.kind == kind)
        #expect((error.error as? URLError)?.code == code)
        #expect(error.request?.path == "/a%20b?c=d")
    }

    @Test(arguments: [URLError.Code.networkConnectionLost, .unknown])
    func interruptedBodyIsTruncated(code: URLError.Code) {
        let response = HTTPURLResponse(HTTPResponse(status: .ok), url: url)
        let error = NetworkError(
            error: URLError(code),
            data: Data("ha".utf8),
            request: URLRequest(url: url),
            response: response
        )
        #expect(error.kind == .truncated)
        #expect(error.data == Data("ha".utf8))
        #expect(error.response?.status == .ok)
        #expect(error.url == url.absoluteString)
    }

    @Test func networkErrorKeepsItsKind() {
        let ours = NetworkError(.decoding, during: .decode, "no screen")
        let error = NetworkError(error: ours, data: Data(), request: URLRequest(url: url))
        #expect(error.kind == .decoding)
        #expect(error.underlying == nil)
        #expect(error.data == Data())
    }

    // MARK: requests that cannot be built

    @Test func requestThatCannotBeBuiltIsNotSent() async throws {
        let server = try LoopbackServer(.response(200))
        let target = try #require(URL(string: server.url))
        let raw = Request.RequestData(method: "not a method")
        let result = HttpRequestBuilder().build(url: target, requestType: .rawRequest(raw), additionalData: nil)
        let request = result.toUrlRequest()
        let failure = await #expect(throws: (any Error).self) { try await URLSession.shared.data(for: request) }
        #expect(server.record.connections == 0)
        let error = NetworkError(error: try #require(failure), request: request)
        #expect(error.kind == .badRequest)
        #expect(error.phase == .build)
        #expect(error.message == result.error?.message)
        #expect(error.advice == result.error?.advice)
        #expect(!error.mayHaveReachedServer)
    }

    @Test func fileBodyIsNotDroppedSilently() {
        let raw = Request.RequestData(method: "PUT", body: .file(path: "/dev/null"))
        let result = HttpRequestBuilder().build(url: url, requestType: .rawRequest(raw), additionalData: nil)
        #expect(result.error == nil)
        #expect(result.toUrlRequest().url?.host == nil)
    }

    // MARK: logs

    @Test func logHidesSecretsAndBodies() throws {
        var request = URLRequest(url: try #require(URL(string: "http://me:hidden@host/?token=hidden&page=2")))
        request.setValue("Bearer hidden", forHTTPHeaderField: "Authorization")
        request.httpBody = Data("hidden".utf8)
        let message = Log.network(.httpRequest(request: .init(url: request))).message
        #expect(!message.contains("hidden"))
        #expect(message.contains("page=2"))
        #expect(message.contains("6 bytes"))
    }

    @Test func missingResponseIsLoggedAsAFailure() {
        let log = Log.network(.httpResponse(response: .init(data: nil, response: nil)))
        #expect(log.message.contains("no response"))
    }
}
