import BeagleNet
import BeagleNetTesting
import BeagleNetURLSession
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Compares the wire output of the app's builder with that of ours in Beagle 1.10.3 mode.
struct HttpRequestBuilderTests {
    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var type: Request.RequestType
        var path = "/screen?a=1"
        var data: HttpAdditionalData? = nil
        var appWide: [String: String] = [:]
    }

    static func form(_ method: FormRemoteAction.Method, _ values: [String: String]) -> Request.RequestType {
        .submitForm(.init(method: method, values: values))
    }

    static let cases: [Case] = [
        Case(testDescription: "screen", type: .fetchComponent),
        Case(testDescription: "image", type: .fetchImage, path: "/a.png"),
        Case(
            testDescription: "screen requested by POST",
            type: .fetchComponent,
            data: .init(httpData: .init(method: .POST, body: Data(#"{"a":1}"#.utf8)))
        ),
        Case(
            testDescription: "headers replace each other",
            type: .fetchComponent,
            data: .init(headers: ["beagle-platform": "ANDROID", "X-Part": "server", "Accept": "text/x"]),
            appWide: ["X-Part": "app"]
        ),
        Case(testDescription: "GET form", type: form(.get, ["q": "a b", "empty": "", "x": "é/ü+1"])),
        Case(testDescription: "GET form with empty values", type: form(.get, ["q": ""])),
        Case(testDescription: "DELETE form", type: form(.delete, ["id": "1"])),
        Case(
            testDescription: "DELETE form with a body",
            type: form(.delete, ["id": "1"]),
            data: .init(httpData: .init(method: .PUT, body: Data("left".utf8)))
        ),
        Case(testDescription: "POST form", type: form(.post, ["name": "Ada", "empty": "", "path": "/a"])),
        Case(testDescription: "PUT form without values", type: form(.put, [:])),
        Case(testDescription: "raw GET", type: .rawRequest(.init(headers: ["X-Part": "1"]))),
        Case(testDescription: "raw DELETE without a body", type: .rawRequest(.init(method: "DELETE"))),
        Case(
            testDescription: "raw POST of a tree",
            type: .rawRequest(
                .init(
                    method: "POST",
                    headers: ["Content-Type": "application/json"],
                    body: ["n": NSNumber(value: 1), "b": NSNumber(value: true), "z": NSNull(), "t": "/"]
                        as [String: Any]
                )
            ),
            appWide: ["X-Part": "app"]
        ),
    ]

    @Test(arguments: cases)
    func bothBuildersSendTheSameMessage(_ example: Case) async throws {
        let server = try LoopbackServer(.response(204))
        let url = try #require(URL(string: server.url + example.path))
        let builder = HttpRequestBuilder()
        builder.additionalHeaders = example.appWide
        var ours = BeagleNet.HttpRequestBuilder(compatibility: .beagle1)
        ours.additionalHeaders = example.appWide

        let requests = [
            builder.build(url: url, requestType: example.type, additionalData: example.data).toUrlRequest(),
            ours.build(url: url, requestType: example.type, additionalData: example.data).toUrlRequest(),
        ]
        for request in requests {
            #expect(request.timeoutInterval == 100)
            #expect(request.cachePolicy == .reloadIgnoringLocalAndRemoteCacheData)
            _ = try await URLSession.shared.data(for: request)
        }
        let messages = server.requests.map(Message.init)
        try #require(messages.count == 2)
        #expect(messages[0] == messages[1])
    }

    /// A message without the orders that the original leaves undefined: of query items and of JSON members.
    private struct Message: Equatable {
        var method: String
        var path: String
        var query: [String]?
        var fields: [String]
        var body: Data
        var json: JSONValue?

        init(_ request: LoopbackServer.Request) {
            let parts = request.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            method = request.method
            path = String(parts[0])
            query = parts.count < 2 ? nil : parts[1].split(separator: "&").map(String.init).sorted()
            fields = request.fields.map { "\($0.name): \($0.value)" }.sorted()
            json = try? JSONValue(parsing: request.body)
            body = Data(json == nil ? request.body : Data(request.body.sorted()))
        }
    }
}
