import BeagleNet
import BeagleNetHTTP
import Foundation

/// A response with its whole body, in memory or in a file.
struct ReceivedResponse {
    let head: HTTPResponse
    /// The URL that answered, after redirects.
    let url: String
    let protocolName: String
    /// The body; empty where it went to `file`, unless the command reads it.
    let body: Data
    /// Where the body went, if it went to a file.
    let file: String?
    /// Whether `-o` asked for a file, also where none was written.
    let isForFile: Bool
    /// Bytes of the body.
    let count: Int
    /// The fields behind the body.
    let trailers: HTTPFields
    /// The first bytes of an image, if it was received from its beginning.
    var imageHead: Data?

    /// Whether the server refused. A 416 that left nothing to download did not.
    var isRefused: Bool { head.status.code >= 400 && file == nil }

    /// What of the body goes to standard output.
    var output: Data { isForFile ? Data() : body }

    var contentType: String { head.headerFields[single: .contentType] ?? "" }

    /// Status line and fields as HTTP/1.1 writes them, also for the other versions.
    var headText: String {
        let fields = head.headerFields.map { "\($0.name.rawName): \($0.value)\n" }.joined()
        return "\(protocolName) \(head.status.code) \(head.status.reasonPhrase)\n\(fields)\n"
    }

    /// The body as a JSON value: itself where it is JSON, else as text; nil where it is neither or in a file.
    var jsonBody: JSONValue? {
        guard file == nil else { return nil }
        if let value = try? JSONValue(parsing: body) { return value }
        return String(validating: body, as: UTF8.self).map { .string($0) }
    }

    private static func json(_ fields: HTTPFields) -> JSONValue {
        .array(fields.map { [.string($0.name.rawName), .string($0.value)] })
    }

    /// `result` of the tool's `--json`.
    var json: JSONValue {
        var members: [String: JSONValue] = [
            "status": .integer(Int64(head.status.code)),
            "url": .string(url),
            "protocol": .string(protocolName),
            "headers": Self.json(head.headerFields),
            "bytes": .integer(Int64(count)),
        ]
        if !trailers.isEmpty { members["trailers"] = Self.json(trailers) }
        members["file"] = file.map { .string($0) }
        if let jsonBody {
            members["body"] = jsonBody
        } else if file == nil {
            members["bodyBase64"] = .string(body.base64EncodedString())
        }
        return .object(members)
    }
}

extension ReceivedResponse {
    /// A response whose body went to a file.
    init(_ response: StreamingResponse, in file: String, count: Int) {
        self.init(
            head: response.response,
            url: response.url,
            protocolName: response.metrics.protocolName,
            body: Data(),
            file: file,
            isForFile: true,
            count: count,
            trailers: response.trailers
        )
    }
}

extension HTTPResponse {
    /// `404 Not Found`; HTTP/2 has the number only.
    var statusLine: String {
        if status.reasonPhrase.isEmpty { return "status \(status.code)" }
        return "\(status.code) \(Redactor.standard.redact(text: status.reasonPhrase).printable)"
    }
}
