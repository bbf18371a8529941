/// The client's side of the opening handshake (RFC 6455, 4.1): builds the request and validates the response.
///
/// The input may be split at any byte. The handshake does no I/O.
package struct WebSocketHandshake {
    /// An accepted handshake, and the bytes after the response head, which already belong to frames.
    package struct AcceptedHandshake {
        package let head: RawHead
        package let rest: Data
    }

    /// Limits on the server's response.
    private enum Limit {
        static let headBytes = 64 << 10
        static let interim = 16
        /// The maximum number of body bytes to wait for if the server declines.
        static let bodyBytes = 64 << 10
    }

    /// The request of the handshake.
    package let message: [UInt8]
    private let accept: String
    private let subprotocols: [String]
    private var received = Data()
    private var searched = 0
    private var interim = 0
    /// The head of a response that declines, while its body is being received.
    private var refusal: RawHead?

    /// Creates the handshake for a validated request.
    ///
    /// - Parameters:
    ///   - host: The value of `Host`, unless the request has its own.
    ///   - nonce: 16 unpredictable bytes.
    /// - Throws: `NetworkError` if the system has no SHA-1.
    package init(_ request: WebSocket.Request, host: String, nonce: Data) throws(NetworkError) {
        let key = nonce.base64EncodedString()
        accept = try Self.accept(key)
        subprotocols = request.subprotocols
        let fields = request.head.headerFields
        var lines = ["GET \(request.head.path ?? "/") HTTP/1.1"]
        if !fields.contains(.host) { lines.append("Host: \(host)") }
        lines += [
            "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: 13",
        ]
        if !subprotocols.isEmpty { lines.append("Sec-WebSocket-Protocol: \(subprotocols.joined(separator: ", "))") }
        lines += fields.map { "\($0.name.rawName): \($0.opaqueValue)" }
        message = (lines.joined(separator: "\r\n") + "\r\n\r\n").opaqueBytes
    }

    /// Returns the value of `Sec-WebSocket-Accept` that is expected for a key.
    package static func accept(_ key: String) throws(NetworkError) -> String {
        Data(try SHA1Digest.bytes(of: Data((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))).base64EncodedString()
    }

    /// Parses bytes of the response, and returns `nil` if more are needed.
    ///
    /// - Throws: `NetworkError` with the response head if the server doesn't accept the handshake.
    package mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) -> AcceptedHandshake? {
        received.append(contentsOf: bytes)
        while refusal == nil {
            guard let head = try takeHead() else { return nil }
            switch head.status.code {
            case 101: return try accepted(head)
            case 100..<200:
                interim += 1
                guard interim <= Limit.interim else {
                    throw Self.invalidResponse(
                        "the server sent more than \(Limit.interim) informational responses",
                        head
                    )
                }
            default: refusal = head
            }
        }
        if let refusal, received.count >= min(Int(clamping: refusal.contentLength ?? 0), Limit.bodyBytes) {
            throw Self.refused(refusal, received)
        }
        return nil
    }

    /// Returns the error for a connection that ended before the server accepted the handshake.
    package func end() -> NetworkError {
        if let refusal { return Self.refused(refusal, received) }
        return NetworkError(
            .network,
            during: .firstByte,
            "the connection ended before the server responded to the handshake"
        )
    }

    /// Removes and returns the next response head if it is complete.
    private mutating func takeHead() throws(NetworkError) -> RawHead? {
        let mark = Data("\r\n\r\n".utf8)
        guard let end = received[searched...].firstRange(of: mark) else {
            searched = max(0, received.count - 3)
            guard received.count <= Limit.headBytes else {
                throw NetworkError(
                    .tooLarge,
                    during: .firstByte,
                    "the response head is larger than \(Limit.headBytes) bytes"
                )
            }
            return nil
        }
        let head = try RawHead(parsing: Array(received[..<end.upperBound]))
        received = Data(received[end.upperBound...])
        searched = 0
        return head
    }

    // MARK: what the server has to say (RFC 6455, 4.1)

    private func accepted(_ raw: RawHead) throws(NetworkError) -> AcceptedHandshake {
        let fields = raw.head.headerFields
        func words(_ name: HTTPField.Name) -> [Substring] {
            fields[values: name].flatMap { $0.split(separator: ",") }.map { $0.trimmed }
        }
        guard words(.upgrade).contains(where: { $0.lowercased() == "websocket" }),
            words(.connection).contains(where: { $0.lowercased() == "upgrade" })
        else { throw Self.invalidResponse("the server switched to another protocol", raw) }
        guard words(.secWebSocketAccept) == [accept[...]] else {
            throw Self.invalidResponse("Sec-WebSocket-Accept does not match Sec-WebSocket-Key", raw)
        }
        guard words(.secWebSocketExtensions).isEmpty else {
            throw Self.invalidResponse("the server chose an extension that was not requested", raw)
        }
        let chosen = words(.secWebSocketProtocol)
        guard chosen.isEmpty || (chosen.count == 1 && subprotocols.contains(String(chosen[0]))) else {
            throw Self.invalidResponse("the server chose a subprotocol that was not requested", raw)
        }
        return AcceptedHandshake(head: raw, rest: received)
    }

    private static func invalidResponse(_ message: String, _ head: RawHead) -> NetworkError {
        var error = NetworkError(
            .protocol,
            during: .firstByte,
            message,
            advice: "check that this URL serves a WebSocket"
        )
        error.response = head.head
        return error
    }

    /// Returns the error for a server that sent an ordinary HTTP response.
    package static func refused(_ head: RawHead, _ body: Data) -> NetworkError {
        let status = head.head.status
        var error = NetworkError(
            .status,
            during: .response,
            "the server returned \(status.code) instead of opening a WebSocket",
            advice: advice(on: head.head)
        )
        error.response = head.head
        // A chunked body isn't decoded here, so it wouldn't be readable.
        if !head.head.headerFields.contains(.transferEncoding) {
            error.data = body.prefix(Int(clamping: head.contentLength ?? .max))
        }
        return error
    }

    private static func advice(on head: HTTPResponse) -> String {
        switch head.status.code {
        case 300..<400:
            guard let location = head.headerFields[single: .location] else { break }
            return "open \(Redactor().redact(url: location)); redirects of a WebSocket are not followed"
        case 401, 407: return "send credentials"
        default: break
        }
        return "check that this URL serves a WebSocket"
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = self
        while let first = text.utf8.first, first == 0x20 || first == 0x09 { text = text.dropFirst() }
        while let last = text.utf8.last, last == 0x20 || last == 0x09 { text = text.dropLast() }
        return text
    }
}

extension HTTPField.Name {
    fileprivate static let host = Self("Host")!
}
