import BeagleNet
import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A requested or recorded request as rules see it, without secrets.
struct MatchSubject: Sendable {
    /// The request without secrets in its URL and body. For header fields, use `redacted(_:)`.
    let request: LogEntry.Request
    let url: RequestURL
    let kind: String?
    /// Whether the request is from the recording.
    let isRecorded: Bool
    /// The body's bytes without secrets, if it has a body and the bytes are known.
    let data: Data?
    /// Whether the body cannot be checked for secrets. It is then compared by its bytes, and never shown in reports.
    let isOpaque: Bool
    private let redactor: Redactor

    /// Creates a subject from a request.
    ///
    /// - Parameter data: the body's bytes, if it has a body and the bytes are known. They may be content-coded.
    init(_ request: LogEntry.Request, data: Data?, kind: String?, isRecorded: Bool, _ redactor: Redactor) {
        let data = data.map(request.decoded)
        var request = request
        request.url = redactor.redact(url: request.url)
        request.method = Self.plain(method: request.method)
        let type = request.body?.mediaType ?? ""
        var audit = Redactor.Audit()
        let redacted = data.flatMap { data in
            let type = type.isEmpty ? nil : type
            return redactor.redact(decoding: data, request.charset, type, at: "body", recordingTo: &audit).data
        }
        self.data = redacted ?? data
        isOpaque = redacted == nil
        self.request = request
        url = RequestURL(request.url)
        self.kind = kind
        self.isRecorded = isRecorded
        self.redactor = redactor
    }

    /// Returns the method in upper case if it is a standard one. Methods are case-sensitive (RFC 9110, 9.1), but tools
    /// write standard ones in any case.
    private static func plain(method: String) -> String {
        let known = method.uppercased()
        return methods.contains(known) ? known : method
    }

    private static let methods: Set = [
        "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
    ]

    /// The method and the URL.
    var title: String { "\(request.method) \(request.url)" }

    /// Returns the value of a field without secrets.
    func redacted(_ field: LogEntry.Field) -> String {
        guard let name = HTTPField.Name(field.name) else { return Redactor.placeholder }
        return redactor.redact([name: field.value]).first?.value ?? ""
    }

    /// Returns the fields of a form without secrets.
    func redacted(_ fields: [LogEntry.Parameter]) -> [LogEntry.Parameter] {
        var audit = Redactor.Audit()
        let form = FormRedaction(redactor, fields)
        return fields.compactMap { form.redacted($0, at: "", recordingTo: &audit).field }
    }

    /// The request as a log would store it. A body that cannot be checked for secrets is omitted.
    var withoutSecrets: LogEntry.Request {
        var request = request
        request.fields = request.fields.map { LogEntry.Field($0.name, redacted($0)) }
        if let data, !isOpaque { request.body?.content = .data(data) } else { request.body = nil }
        return request
    }
}

/// The components of a URL in normalized form.
struct RequestURL: Sendable {
    /// Scheme, host and port, such as `https://api.example.com:8443`.
    let origin: String
    /// The path; `/` if it is empty.
    let path: String
    /// The query without normalization.
    private let text: Substring

    init(_ url: String) {
        // Compares bytes, because a delimiter and a combining character after it form a single `Character`.
        var rest = url.utf8.prefix { $0 != UInt8(ascii: "#") }
        let mark = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        text = Substring(rest[mark...].dropFirst())
        rest = rest[..<mark]
        let slash = UInt8(ascii: "/")
        let slashes = rest.indices.first { rest[$0...].starts(with: [slash, slash]) }
        let scheme = slashes.map { Substring(rest[..<$0]).lowercased() } ?? ""
        if let slashes { rest = rest[slashes...].dropFirst(2) }
        let end = rest.firstIndex(of: slash) ?? rest.endIndex
        origin = slashes == nil ? "" : Self.origin(scheme, rest[..<end])
        path = end == rest.endIndex ? "/" : Self.plain(String(Substring(rest[end...])))
    }

    private static func origin(_ scheme: String, _ authority: Substring.UTF8View) -> String {
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[$0...].dropFirst() } ?? authority
        let name = Substring(host).lowercased()
        for (ownScheme, port) in [("http:", ":80"), ("https:", ":443"), ("ws:", ":80"), ("wss:", ":443")]
        where scheme == ownScheme && name.hasSuffix(port) {
            return "\(scheme)//\(name.dropLast(port.count))"
        }
        return "\(scheme)//\(name)"
    }

    /// Returns the path with unreserved characters decoded (RFC 3986, 6.2.2.2), invalid characters encoded, and escapes
    /// in upper case.
    private static func plain(_ path: String) -> String {
        guard path.utf8.contains(where: { $0 == UInt8(ascii: "%") || mustBeEncoded($0) }) else { return path }
        var bytes: [UInt8] = []
        var rest = Array(path.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard byte == UInt8(ascii: "%"), digits.utf8.count == 2, let escaped = UInt8(digits, radix: 16) else {
                bytes += mustBeEncoded(byte) ? escape(byte) : [byte]
                continue
            }
            rest = rest.dropFirst(2)
            if escaped.isUnreserved {
                bytes.append(escaped)
            } else {
                bytes += [byte] + Array(digits.uppercased().utf8)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns whether a byte is not allowed in a URL (RFC 3986, 2).
    private static func mustBeEncoded(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte >= 0x7F || "\"<>\\^`{|}".utf8.contains(byte)
    }

    private static func escape(_ byte: UInt8) -> [UInt8] {
        Array((byte < 0x10 ? "%0" : "%").utf8) + String(byte, radix: 16, uppercase: true).utf8
    }

    /// The decoded items of the query.
    var query: [(name: String, value: String)] { QueryItems.items(text) }
}
