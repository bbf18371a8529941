import BeagleNetHTTP
import BeagleNetRequestBuilder
import Testing

/// A message in a form that a test can compare.
struct Message: Equatable {
    var method: String
    var url: String
    var headers: [String]
    var body: String?
}

extension HttpRequestBuilder {
    /// The message of a request to `url`.
    func message(
        _ url: String,
        _ type: Request.RequestType = .fetchComponent,
        _ data: (any RemoteScreenAdditionalData)? = nil,
        query: [URLQueryItem] = []
    ) throws -> Message {
        let built = try build(
            Request(url: try #require(URL(string: url)), type: type, additionalData: data, query: query)
        )
        return Message(
            method: built.head.method.rawValue,
            url: built.head.urlText,
            headers: built.head.headerFields.map { "\($0.name.rawName): \($0.value)" },
            body: built.body?.data.map { String(decoding: $0, as: UTF8.self) }
        )
    }

    /// The error that rejects a request to `url`.
    func refusal(
        _ url: String,
        _ type: Request.RequestType = .fetchComponent,
        _ data: (any RemoteScreenAdditionalData)? = nil,
        location: SourceLocation = #_sourceLocation
    ) -> NetworkError? {
        let error = #expect(throws: NetworkError.self, sourceLocation: location) { try message(url, type, data) }
        #expect(error?.phase == .build, sourceLocation: location)
        return error
    }
}

extension Request.RequestType {
    static func form(_ method: FormRemoteAction.Method, _ values: [String: String] = [:]) -> Self {
        .submitForm(Request.FormData(method: method, values: values))
    }

    static func raw(_ method: String?, headers: [String: String]? = [:], body: Request.Body) -> Self {
        .rawRequest(Request.RequestData(method: method, headers: headers, body: body))
    }

    static func raw(_ method: String?, headers: [String: String]? = [:], body: (any Sendable)? = nil) -> Self {
        .rawRequest(Request.RequestData(method: method, headers: headers, body: body))
    }
}
