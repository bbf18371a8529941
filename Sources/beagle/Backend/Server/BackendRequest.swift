import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// A request as the routes see it.
struct BackendRequest {
    let method: String
    /// The path as it was sent, still percent-encoded.
    let path: String
    /// The query string after the question mark, or an empty string without one.
    let query: String
    let fields: HTTPFields
    let body: BackendBody
    let isHTTP11: Bool

    /// Whether the connection must be closed after the response (RFC 9112, 9.3).
    var closesConnection: Bool {
        let options = list(.connection)
        return options.contains("close") || !isHTTP11 && !options.contains("keep-alive")
    }

    /// Returns the last value of a query item, or `nil` if the query has no such item.
    func item(_ name: String) -> String? {
        QueryItems.items(query[...]).last { $0.name == name }?.value
    }

    /// Returns the elements of a list field in lower case, from all fields of that name.
    func list(_ name: HTTPField.Name) -> [String] {
        fields[values: name].flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
    }

    /// Reads the head of the next request, or returns `nil` if the connection has ended.
    ///
    /// - Throws: `RequestFault` if it isn't HTTP/1.0 or HTTP/1.1 (RFC 9112), or `ConnectionEnd`.
    init?(from reader: BackendReader) throws {
        guard var lines = try reader.head() else { return nil }
        let words = lines.removeFirst().split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 3, HTTPField.Name(words[0]) != nil, words[2].hasPrefix("HTTP/") else {
            throw RequestFault(.badRequest, "the first line is not a request line")
        }
        guard words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else {
            throw RequestFault(.httpVersionNotSupported, "the version is neither HTTP/1.0 nor HTTP/1.1")
        }
        method = words[0]
        isHTTP11 = words[2] == "HTTP/1.1"
        (path, query) = try Self.target(words[1])
        fields = try Self.fields(lines)
        let hosts = fields[values: Self.host].count
        guard hosts == 1 || !isHTTP11 && hosts == 0 else {
            throw RequestFault(.badRequest, "the request doesn't have exactly one Host field")
        }
        body = BackendBody(try BackendBody.Framing(fields), expectsContinue: false, reader)
        if isHTTP11, list(.expect).contains("100-continue") { body.expectsContinue = true }
    }

    /// `HTTPField.Name.host` is unavailable, because clients set the host elsewhere.
    private static let host = HTTPField.Name("Host")!

    /// Returns the path and query of a target in origin form, absolute form or `*`.
    private static func target(_ text: String) throws(RequestFault) -> (path: String, query: String) {
        var rest = text[...]
        if let scheme = rest.range(of: "://"), rest[..<scheme.lowerBound].allSatisfy({ $0.isASCII && $0.isLetter }) {
            rest = rest[scheme.upperBound...].drop { $0 != "/" && $0 != "?" }
            if rest.first != "/" { rest = "/" + rest }
        }
        guard rest.first == "/" || rest == "*", !rest.utf8.contains(where: { $0 < 0x21 || $0 == 0x7F }) else {
            throw RequestFault(.badRequest, "the target of the request is not a path")
        }
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
    }

    private static func fields(_ lines: [ArraySlice<UInt8>]) throws(RequestFault) -> HTTPFields {
        var fields = HTTPFields()
        for line in lines {
            // A name that starts with white space would be a folded line, which is obsolete (RFC 9112, 5.2).
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self)),
                !line[colon...].contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F })
            else { throw RequestFault(.badRequest, "a field of the head is malformed") }
            let value = String(decoding: line[(colon + 1)...], as: UTF8.self)
            fields.append(HTTPField(name: name, value: value.trimmingCharacters(in: .whitespaces)))
        }
        return fields
    }
}

/// The body of a request, which is read on demand.
final class BackendBody {
    /// The method that determines the end of the body (RFC 9112, 6.3).
    enum Framing {
        case length(Int64)
        case chunked

        init(_ fields: HTTPFields) throws(RequestFault) {
            let lengths = Set(fields[values: .contentLength])
            let codings = fields[values: .transferEncoding]
            guard codings.isEmpty else {
                guard lengths.isEmpty else {
                    throw RequestFault(.badRequest, "the request has both Content-Length and Transfer-Encoding")
                }
                guard codings.count == 1, codings[0].lowercased() == "chunked" else {
                    throw RequestFault(.notImplemented, "the only supported transfer coding is chunked")
                }
                self = .chunked
                return
            }
            guard let text = lengths.first else {
                self = .length(0)
                return
            }
            guard lengths.count == 1, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int64(text)
            else { throw RequestFault(.badRequest, "the Content-Length is not a number of bytes") }
            self = .length(length)
        }
    }

    private let reader: BackendReader
    private let isChunked: Bool
    /// The number of unread bytes, of the current chunk or of the whole body.
    private var left: Int64
    private var isFirstChunk = true
    private(set) var isAtEnd: Bool
    /// Whether the client waits for `100 Continue` before it sends the body.
    var expectsContinue: Bool

    init(_ framing: Framing, expectsContinue: Bool, _ reader: BackendReader) {
        self.reader = reader
        self.expectsContinue = expectsContinue
        switch framing {
        case .length(let length): (isChunked, left, isAtEnd) = (false, length, length == 0)
        case .chunked: (isChunked, left, isAtEnd) = (true, 0, false)
        }
    }

    /// Reads up to 64 KiB, or returns `nil` at the end.
    func next() throws -> Data? {
        if isAtEnd { return nil }
        if expectsContinue {
            expectsContinue = false
            try reader.socket.write(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
        if isChunked, left == 0 {
            try beginChunk()
            if isAtEnd { return nil }
        }
        let bytes = try reader.take(upTo: Int(min(left, 64 << 10)))
        left -= Int64(bytes.count)
        if !isChunked, left == 0 { isAtEnd = true }
        return bytes
    }

    private func beginChunk() throws {
        if !isFirstChunk, try !reader.line().isEmpty {
            throw RequestFault(.badRequest, "a chunk is longer than its size")
        }
        isFirstChunk = false
        let digits = try reader.line().prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
        guard (1...15).contains(digits.utf8.count), digits.allSatisfy({ $0.isASCII && $0.isHexDigit }),
            let size = Int64(digits, radix: 16)
        else { throw RequestFault(.badRequest, "the size of a chunk is not a hexadecimal number") }
        left = size
        guard size == 0 else { return }
        var trailers = 0
        while case let line = try reader.line(), !line.isEmpty {
            trailers += line.utf8.count
            guard trailers <= 16 << 10 else { throw RequestFault(.badRequest, "the trailers are too large") }
        }
        isAtEnd = true
    }

    /// Reads the whole body.
    ///
    /// - Throws: `RequestFault` with status 413 if it is larger than `limit` bytes, before more bytes are stored.
    func collect(upTo limit: Int = 1 << 20) throws -> Data {
        let fault = RequestFault(
            .contentTooLarge,
            "this route accepts at most \(limit) bytes; /upload accepts any number"
        )
        if !isChunked, left > Int64(limit) { throw fault }
        var whole = Data()
        while let bytes = try next() {
            guard bytes.count <= limit - whole.count else { throw fault }
            whole += bytes
        }
        return whole
    }

    /// Waits before the response is sent.
    ///
    /// - Throws: `ConnectionEnd` if the client disconnects in the meantime.
    func pause(_ duration: Duration) throws {
        try reader.socket.pause(duration)
    }

    /// Reads and discards the rest of the body, which precedes the next request.
    ///
    /// - Returns: Whether the end was reached within 10 s. `false` if the client still waits for `100 Continue`.
    func discard() -> Bool {
        let deadline = ContinuousClock.now + .seconds(10)
        do {
            while !isAtEnd, !expectsContinue, ContinuousClock.now < deadline, reader.hasBytes(by: deadline) {
                _ = try next()
            }
        } catch {
            return false
        }
        return isAtEnd
    }
}
