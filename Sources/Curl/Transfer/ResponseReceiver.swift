import BeagleNetHTTP

/// The receiver of one hop's response: parses its heads, decodes its body and writes it to its destination.
///
/// It is fed the lines and bytes that libcurl delivers, and does no network I/O.
struct ResponseReceiver: ~Copyable {
    /// The destination of the response body.
    enum Sink {
        case none, collect, pipe(BodyPipe), file(FileSink), discard
    }

    /// The largest discarded body that is read to the end so that the connection can be reused, in bytes.
    private static let discardLimit: Int64 = 64 << 10

    /// Whether the request has the method HEAD, whose responses have no body.
    private let isHead: Bool
    /// Whether the body is decoded.
    private let decodes: Bool
    /// The maximum size of the decoded body, in bytes; `nil` for no limit.
    private let maxBodyBytes: Int?

    private var head = ResponseHead()
    /// Whether the connection is established. A head received earlier is a proxy's response to CONNECT.
    private(set) var isConnected = false
    /// Whether the most recent header line belonged to such a response.
    private(set) var isReadingProxyHead = false
    /// The final head; `nil` before it is complete.
    private(set) var response: RawHead?
    /// The informational responses before it.
    private(set) var interim: [HTTPResponse] = []

    private var sink = Sink.none
    private var collected = BodyBuffer()
    private var decoder: ContentDecoder?
    /// The number of bytes that the decoder has used of those that libcurl retains during a pause.
    private var usedBytes = 0
    /// Whether the rest of the body is not worth reading.
    private(set) var stopsReadingBody = false
    /// The number of bytes of the encoded body so far.
    private(set) var bytesReceived: Int64 = 0
    /// The number of bytes of the decoded body so far.
    private(set) var decodedBytes: Int64 = 0

    /// Creates the receiver of a response, before any connection.
    init(isHead: Bool, decodes: Bool, maxBodyBytes: Int?) {
        self.isHead = isHead
        self.decodes = decodes
        self.maxBodyBytes = maxBodyBytes
    }

    // MARK: heads

    /// Notes that a new connection is being opened, so that a proxy's response to CONNECT may follow.
    mutating func willConnect() {
        isConnected = false
    }

    /// Notes that a connection is ready, so that the next head is the server's.
    mutating func didConnect() {
        isConnected = true
        isReadingProxyHead = false
    }

    /// Takes a line in the middle of the server's head. This is the fast path for nearly all lines.
    ///
    /// - Returns: Whether the line was taken; if not, pass it to `feed`.
    @inline(__always)
    mutating func takes(_ line: UnsafeRawBufferPointer) -> Bool {
        guard isConnected else { return false }
        return head.takes(line)
    }

    /// Takes a line of any head.
    ///
    /// - Returns: The progress of the server's head, or `nil` if the line of a proxy's head is malformed. libcurl parses
    ///   the response to CONNECT itself, but doesn't reject a NUL there.
    mutating func feed(_ line: UnsafeRawBufferPointer) throws(NetworkError) -> ResponseHead.Progress? {
        guard isConnected else {
            isReadingProxyHead = true
            return line.contains(0) ? nil : .more
        }
        let progress = try head.feed(line)
        switch progress {
        case .more: break
        case .interim(let response): interim.append(response)
        case .complete(let response): self.response = response
        }
        return progress
    }

    /// The number of bytes of all received heads and trailers.
    var headBytes: Int { head.bytes }

    /// Returns the trailers, the fields after the body.
    func trailers() throws(NetworkError) -> HTTPFields {
        try head.trailers()
    }

    /// The length of the encoded response body, if known (RFC 9112, 6.3).
    var announcedLength: Int64? {
        guard let response else { return nil }
        let hasNone = isHead || response.status.code == 204 || response.status.code == 304
        return hasNone ? 0 : response.contentLength
    }

    /// Whether all bytes of an announced body have been received.
    var hasWholeBody: Bool { response != nil && announcedLength == bytesReceived }

    /// Returns whether the end of the connection delimits the body (RFC 9112, 6.3).
    func endsWithConnection(isMultiplexed: Bool) -> Bool {
        guard let response, announcedLength == nil, !isMultiplexed else { return false }
        return !response.head.headerFields.contains(.transferEncoding)
    }

    // MARK: the body

    /// Discards the body of a response whose head alone decides the next step. The connection is reused if the body
    /// ends soon.
    mutating func discardBody(isMultiplexed: Bool) {
        sink = .discard
        stopsReadingBody =
            announcedLength.map { $0 > Self.discardLimit } ?? endsWithConnection(isMultiplexed: isMultiplexed)
    }

    /// Makes the rest of the body not worth reading.
    mutating func stopReading() {
        stopsReadingBody = true
    }

    /// Chooses the decoder of the body.
    ///
    /// - Throws: `NetworkError` if the body is too large, or has an unsupported coding.
    mutating func prepareBody() throws(NetworkError) {
        if decodes, let response, response.isEncoded, let encoding = response.head.headerFields[.contentEncoding] {
            decoder = try ContentDecoder(contentEncoding: encoding)
        }
        if let maxBodyBytes, decoder == nil, let length = announcedLength, length > maxBodyBytes {
            throw .bodyTooLarge(maxBodyBytes)
        }
    }

    /// Writes the body to a destination.
    mutating func write(to sink: consuming Sink) throws(NetworkError) {
        self.sink = sink
        if case .collect = self.sink, let length = announcedLength { try collected.reserve(Int(length)) }
    }

    /// The stream that the body is written to; `nil` for other destinations.
    var pipe: BodyPipe? {
        if case .pipe(let pipe) = sink { return pipe }
        return nil
    }

    /// Whether the body is discarded because the head alone decides the next step.
    var isDiscarding: Bool {
        if case .discard = sink { return true }
        return false
    }

    /// Whether the reader of the body has no room for more.
    var isReaderBehind: Bool {
        if case .pipe(let pipe) = sink { return pipe.isFull() }
        return false
    }

    /// Receives bytes of the body.
    ///
    /// - Returns: Whether all were used. If not, the reader has no room for more. Pass all bytes again later, perhaps
    ///   split differently; those already used are skipped.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) -> Bool {
        if let decoder { return try decode(bytes, by: decoder) }
        bytesReceived += Int64(bytes.count)
        try accept(bytes)
        return true
    }

    private mutating func decode(
        _ bytes: UnsafeRawBufferPointer,
        by decoder: ContentDecoder
    ) throws(NetworkError) -> Bool {
        let skipped = min(usedBytes, bytes.count)
        var rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(skipped))
        let before = rest.count
        defer { bytesReceived += Int64(before - rest.count) }
        while true {
            let piece = try decoder.decode(&rest)
            if piece.isEmpty { break }
            try accept(piece)
            if isReaderBehind {
                usedBytes = max(usedBytes, bytes.count - rest.count)
                return false
            }
        }
        usedBytes -= skipped
        return true
    }

    private mutating func accept(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        decodedBytes += Int64(bytes.count)
        if isDiscarding {
            guard decodedBytes <= Self.discardLimit else {
                throw NetworkError(.tooLarge, during: .body, "the body of a discarded response is too large")
            }
            return
        }
        if let maxBodyBytes, decodedBytes > maxBodyBytes { throw .bodyTooLarge(maxBodyBytes) }
        switch sink {
        case .collect: try collected.append(bytes)
        case .pipe(let pipe): pipe.write(bytes)
        case .file(let file): try file.write(bytes)
        case .discard, .none: break
        }
    }

    // MARK: the end

    /// Checks that head and body are complete after the connection or stream ended without an error.
    ///
    /// - Parameters:
    ///   - wasTruncated: Whether the TLS connection ended without close_notify.
    ///   - isMultiplexed: Whether the connection carries several responses.
    /// - Returns: The collected body.
    mutating func finish(wasTruncated: Bool, isMultiplexed: Bool) throws(NetworkError) -> Data {
        guard response != nil else {
            throw NetworkError(
                head.hasBegun ? .truncated : .network,
                during: .firstByte,
                head.hasBegun
                    ? "the connection ended in the middle of the response head"
                    : "the connection ended before a response"
            )
        }
        try decoder?.finish()
        if wasTruncated, !isDiscarding, endsWithConnection(isMultiplexed: isMultiplexed) { throw .missingCloseNotify }
        if case .file(let file) = sink { try file.commit() }
        return collected.take()
    }

    /// Gives up an incomplete body and returns the part of it that is in memory.
    mutating func abandon() -> Data {
        sink = .none
        return collected.take()
    }
}

extension NetworkError {
    /// The error for a TLS connection that ended without close_notify. An attacker may have cut it (RFC 8446, 6.1).
    fileprivate static var missingCloseNotify: NetworkError {
        NetworkError(
            .truncated,
            during: .body,
            "the TLS connection ended without a close_notify alert, and no length shows that the response is complete",
            advice: "configure the server to send Content-Length or chunks, or to close TLS connections properly"
        )
    }

    fileprivate static func bodyTooLarge(_ limit: Int) -> NetworkError {
        NetworkError(
            .tooLarge,
            during: .body,
            "the response body is larger than the \(limit) bytes allowed",
            advice: "increase TransferOptions.maxBodyBytes, or stream the body"
        )
    }
}
