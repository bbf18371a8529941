import BeagleNetHTTP
import Foundation

/// A request that is shown instead of sent.
struct OfflineRequest {
    private let request: TransferRequest

    init(_ request: TransferRequest) {
        self.request = request
    }

    /// Message head and body as they would be sent; a terminal sees no secrets.
    var result: CommandResult {
        get async throws {
            let head = request.head
            let body = try await request.body?.collect() ?? Data()
            let fields = head.headerFields.map { ($0.name.rawName, $0.value) }
            var json: [String: JSONValue] = [
                "method": .string(head.method.rawValue),
                "url": .string(head.urlText),
                "headers": .array(fields.map { [.string($0), .string($1)] }),
            ]
            if let text = String(validating: body, as: UTF8.self) {
                json["body"] = .string(text)
            } else {
                json["bodyBase64"] = .string(body.base64EncodedString())
            }
            let isTerminal = isatty(STDOUT_FILENO) == 1
            return CommandResult(json: .object(json), output: isTerminal ? redacted(body) : plain(fields, body))
        }
    }

    private func plain(_ fields: [(String, String)], _ body: Data) -> Data {
        let head = "\(request.head.method.rawValue) \(request.head.urlText)\n"
        let lines = fields.map { "\($0): \($1)\n" }.joined()
        return Data("\(head)\(lines)\n".utf8) + body + Data((body.isEmpty ? "" : "\n").utf8)
    }

    private func redacted(_ body: Data) -> Data {
        let redactor = Redactor()
        let head = "\(request.head.method.rawValue) \(redactor.redact(url: request.head.urlText))\n"
        let lines = redactor.redact(request.head.headerFields).map { "\($0.name): \($0.value)\n" }.joined()
        let summary = redactor.summary(of: body, contentType: request.head.headerFields[.contentType])
        return Data("\(head)\(lines)\n\(body.isEmpty ? "" : "\(summary)\n")".utf8)
    }
}
