import BeagleNet
import BeagleNetHTTP
import Foundation

/// A response with its whole body, in memory or in a file.
struct ReceivedResponse {
    let head: HTTPResponse
    /// The final URL, after redirects.
    let url: String
    let protocolName: String
    /// The body. Empty if it was written to `file`, unless the command reads it.
    let body: Data
    /// The file that the body was written to, or `nil` if it wasn't written to one.
    let file: String?
    /// Whether `-o` names a file, even if it wasn't written.
    let isForFile: Bool
    /// The number of bytes of the body.
    let count: Int
    /// The trailer fields.
    let trailers: HTTPFields
    /// The part that the cache had in the response, or `nil` without a cache.
    let cache: CacheReport?
    /// The first bytes of an image, if it was received from its beginning.
    var imageHead: Data?

    /// Whether the server responded with an error status. A 416 for a download that is already complete isn't an error.
    var isErrorResponse: Bool { head.status.code >= 400 && file == nil }

    /// The bytes that are written to standard output.
    var output: Data { isForFile ? Data() : body }

    var contentType: String { head.headerFields[single: .contentType] ?? "" }

    /// The status line and header fields in HTTP/1.1 format, whatever the actual version. A stored response has none.
    var headText: String {
        let fields = head.headerFields.map { "\($0.name.rawName): \($0.value)\n" }.joined()
        let version = protocolName.isEmpty ? "HTTP/1.1" : protocolName
        return "\(version) \(head.status.code) \(head.status.reasonPhrase)\n\(fields)\n"
    }

    /// The body as a JSON value: parsed if it is JSON, and otherwise as a string. `nil` if it is neither, or in a file.
    var jsonBody: JSONValue? {
        guard file == nil else { return nil }
        if let value = try? JSONValue(parsing: body) { return value }
        return String(validating: body, as: UTF8.self).map { .string($0) }
    }

    private static func json(_ fields: HTTPFields) -> JSONValue {
        .array(fields.map { [.string($0.name.rawName), .string($0.value)] })
    }

    /// The result for `--json`.
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
    /// Creates a response whose body was written to a file.
    init(_ response: StreamingResponse, in file: String, count: Int, _ cache: CacheReport?) {
        self.init(
            head: response.response,
            url: response.url,
            protocolName: response.metrics.protocolName,
            body: Data(),
            file: file,
            isForFile: true,
            count: count,
            trailers: response.trailers,
            cache: cache
        )
    }
}

extension HTTPResponse {
    /// The status code and reason phrase, such as `404 Not Found`. HTTP/2 has only the code.
    var statusLine: String {
        if status.reasonPhrase.isEmpty { return "status \(status.code)" }
        return "\(status.code) \(Redactor.standard.redact(text: status.reasonPhrase).printable)"
    }
}
