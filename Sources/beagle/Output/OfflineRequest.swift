import BeagleNetCurl
import BeagleNetHTTP
import Foundation

/// A request that is shown instead of sent, after the same checks.
struct OfflineRequest {
    private let request: TransferRequest
    private let showsSecrets: Bool

    /// - Parameter showsSecrets: Whether credentials and the body are shown. Otherwise they are redacted as in logs.
    init(_ request: TransferRequest, showsSecrets: Bool) {
        self.request = request
        self.showsSecrets = showsSecrets
    }

    /// The request's head and body as HTTP/1.1 would send them.
    var result: CommandResult {
        get async throws {
            let head = request.head
            let wireFields = try CurlTransport.wireFields(of: request)
            let body = try await request.body?.collect(upTo: .max) ?? Data()
            let redactor = Redactor()
            let url = showsSecrets ? head.urlText : redactor.redact(url: head.urlText)
            let fields = showsSecrets ? wireFields.map { ($0.name.rawName, $0.value) } : redactor.redact(wireFields)
            var json: [String: JSONValue] = [
                "method": .string(head.method.rawValue),
                "url": .string(url),
                "headers": .array(fields.map { [.string($0), .string($1)] }),
                "bodyBytes": .integer(Int64(body.count)),
            ]
            if showsSecrets, let text = String(validating: body, as: UTF8.self) {
                json["body"] = .string(text)
            } else if showsSecrets {
                json["bodyBase64"] = .string(body.base64EncodedString())
            }
            let lines = ["\(head.method.rawValue) \(url)"] + fields.map { "\($0): \($1)" }
            var output = Data("\(lines.joined(separator: "\n"))\n".utf8)
            if !body.isEmpty {
                let summary = redactor.summary(of: body, contentType: head.headerFields[.contentType])
                output += Data("\n".utf8) + (showsSecrets ? body : Data("(\(summary))".utf8)) + Data("\n".utf8)
            }
            return CommandResult(json: .object(json), output: output)
        }
    }
}
