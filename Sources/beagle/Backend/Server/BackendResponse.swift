import BeagleNetHTTP
import Foundation

/// The response of a route.
struct BackendResponse {
    enum Body {
        case data(Data)
        /// A body that a function sends in pieces. It ends when the function returns.
        case stream((_ send: (Data) throws -> Void) throws -> Void)
        /// A connection that switches to a WebSocket.
        case webSocket((BackendWebSocket) throws -> Void)
        /// A connection that breaks before the first byte of the body.
        case lost
    }

    var status: HTTPResponse.Status
    var fields: HTTPFields
    var body: Body

    init(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:], _ body: Data = Data()) {
        self.init(status, fields, .data(body))
    }

    init(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:], _ body: Body) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// Creates a JSON response from a value.
    static func json(_ status: HTTPResponse.Status, _ value: some Encodable) throws -> BackendResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = try encoder.encode(value) + Data("\n".utf8)
        return BackendResponse(status, [.contentType: "application/json"], body)
    }

    /// The problem details of an error (RFC 9457).
    struct Problem: Encodable {
        struct Detail: Encodable {
            let pointer: String
            let detail: String
        }
        var type = "about:blank"
        let title: String
        let status: Int
        let detail: String
        let errors: [Detail]?
    }

    /// Creates an error response with problem details (RFC 9457).
    static func problem(
        _ status: HTTPResponse.Status,
        _ detail: String,
        errors: [Problem.Detail]? = nil
    ) throws -> BackendResponse {
        let problem = Problem(title: status.reasonPhrase, status: status.code, detail: detail, errors: errors)
        var response = try json(status, problem)
        response.fields[.contentType] = "application/problem+json"
        return response
    }
}
