import BeagleNetHTTP
import Foundation

/// The answer of a route.
struct BackendResponse {
    enum Body {
        case data(Data)
        /// Sent piece by piece by a function, which ends when it returns.
        case stream((_ send: (Data) throws -> Void) throws -> Void)
        /// A WebSocket from here on.
        case webSocket((BackendWebSocket) throws -> Void)
        /// The connection breaks off before the first byte of the body.
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

    /// The JSON of a value.
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

    /// An error as RFC 9457 has it.
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
