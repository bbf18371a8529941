import BeagleNetHTTP
import CBeagleNetCurl

/// The loop's end of one WebSocket. It transfers bytes between libcurl's connection and the protocol, and messages
/// between the protocol and the app's pipe. Used only on the loop's thread, except for `pipe` and `request`.
final class WebSocketLink {
    /// The size of a read, and the maximum number of reads per turn, during which other transfers wait.
    private static let pieceSize = 64 << 10
    private static let piecesPerTurn = 16
    /// The maximum number of unsent bytes in the system's buffer. The default is megabytes, and a ping or close frame
    /// would have to wait behind them.
    private static let unsentLimit: Int32 = 128 << 10

    let request: WebSocket.Request
    let pipe: WebSocketPipe
    /// The handshake; `nil` once the server has accepted it.
    private var handshake: WebSocketHandshake?
    private var session: WebSocketSession
    /// The socket of the connection; `nil` before it is open.
    private(set) var socket: Int32?
    /// The bytes being sent, in memory that doesn't move: see `EasyHandle.send`.
    private var chunk: [UInt8]
    private var sent = 0
    /// The error after which nothing more is sent; data that the server sent earlier may still be read.
    private var sendFailure: CURLcode?
    private var isPaused = false
    private var lastReceived: UInt64 = 0
    /// The time at which the socket accepted bytes that it had refused before, because the server had read some.
    private var lastTaken: UInt64 = 0
    private var isRefused = false
    /// The time of the last ping, if nothing has been received since.
    private var pinged: UInt64?
    /// The time at which either side began to close.
    private var closing: UInt64?

    init(_ request: WebSocket.Request, _ handshake: WebSocketHandshake, resourceTracker: ResourceTracker?) {
        self.request = request
        self.handshake = handshake
        chunk = handshake.message
        session = WebSocketSession(maxMessageBytes: request.maxMessageBytes)
        pipe = WebSocketPipe(of: request.head, resourceTracker: resourceTracker)
    }

    /// Whether the handshake is complete.
    var isOpen: Bool { handshake == nil }

    /// Starts on the connection that libcurl has opened.
    func begin(on socket: Int32, at now: UInt64) {
        self.socket = socket
        lastReceived = now
        beagle_socket_limit_unsent(socket, Self.unsentLimit)
    }

    /// The `CURL_POLL_` bits for which the socket is watched.
    var interest: Int32 {
        (isPaused ? CURL_POLL_NONE : CURL_POLL_IN) | (sent < chunk.count ? CURL_POLL_OUT : CURL_POLL_NONE)
    }

    // MARK: sending and receiving

    /// Sends and receives as much as possible.
    ///
    /// - Throws: The error with which the connection ended. It has no effect if the pipe has already ended.
    func serve(_ transfer: Transfer, _ hop: Hop, at now: UInt64) throws(NetworkError) {
        takePosted()
        flush(hop, at: now)
        let unsentBytes = unsentBytes
        let end = try receive(transfer, hop, at: now)
        flush(hop, at: now)
        if session.isClosing, closing == nil { closing = now }
        // If the server's end made messages obsolete, they weren't sent.
        pipe.note(unsentBytes: session.isOver ? unsentBytes : self.unsentBytes)
        if let close = session.peerClose { pipe.end(.success(close)) }
        if let violation = session.violation { pipe.end(.failure(violation.of(request))) }
        if let end { throw end }
        if let sendFailure { throw failure(sendFailure, hop) }
    }

    private var unsentBytes: Int { session.queuedBytes + chunk.count - sent }

    private func takePosted() {
        guard isOpen else { return }
        let posted = pipe.takePosted()
        for message in posted.messages { session.send(message) }
        if let close = posted.close { session.close(close) }
    }

    /// Sends as much as the socket accepts.
    private func flush(_ hop: Hop, at now: UInt64) {
        while sendFailure == nil {
            if sent == chunk.count {
                chunk = isOpen ? session.nextChunk() : []
                sent = 0
                if chunk.isEmpty { return }
            }
            let (code, count) = chunk.withUnsafeBytes { hop.easy.send(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
            if code == CURLE_AGAIN {
                isRefused = true
                return
            }
            if code == CURLE_OK { sent += count } else { sendFailure = code }
            if isRefused { (lastTaken, isRefused) = (now, false) }
        }
    }

    /// Receives as much as is available and the reader can take. Returns the error with which the connection ended, if
    /// it did.
    private func receive(_ transfer: Transfer, _ hop: Hop, at now: UInt64) throws(NetworkError) -> NetworkError? {
        let wasPaused = isPaused
        isPaused = false
        let result = withUnsafeTemporaryAllocation(byteCount: Self.pieceSize, alignment: 1) { buffer in
            for _ in 0..<Self.piecesPerTurn {
                // TLS may have buffered bytes that the socket doesn't show, so only libcurl knows whether any are left.
                isPaused = isOpen && !session.isClosing && pipe.isFull()
                if isPaused { return Result<NetworkError?, NetworkError>.success(nil) }
                let (code, count) = hop.easy.receive(into: buffer)
                if code == CURLE_AGAIN { return .success(nil) }
                guard code == CURLE_OK, count > 0 else { return .success(end(code, hop)) }
                do throws(NetworkError) {
                    try take(UnsafeRawBufferPointer(rebasing: buffer[..<count]), transfer)
                } catch {
                    return .failure(error)
                }
                (lastReceived, pinged) = (now, nil)
            }
            transfer.resume()
            return .success(nil)
        }
        if wasPaused, !isPaused { lastReceived = now }
        return try result.get()
    }

    private func take(_ bytes: UnsafeRawBufferPointer, _ transfer: Transfer) throws(NetworkError) {
        guard isOpen else {
            guard let agreement = try handshake?.receive(bytes) else { return }
            handshake = nil
            transfer.open(agreement.head)
            agreement.rest.withUnsafeBytes { pipe.deliver(session.receive($0)) }
            return
        }
        pipe.deliver(session.receive(bytes))
    }

    /// Returns the error for the end of the connection.
    private func end(_ code: CURLcode, _ hop: Hop) -> NetworkError {
        if let handshake { return handshake.end() }
        if code != CURLE_OK { return failure(code, hop) }
        return NetworkError(
            .network,
            during: .body,
            "the server ended the connection without closing the WebSocket",
            advice: "open a new WebSocket"
        )
    }

    private func failure(_ code: CURLcode, _ hop: Hop) -> NetworkError {
        hop.error(code, during: isOpen ? .body : .firstByte)
    }

    // MARK: pings and deadlines

    /// Queues a ping if it is due or nearly due, because each due ping causes a check of all WebSockets. The next
    /// `serve` sends it.
    func pingIfDue(at now: UInt64) -> Bool {
        guard isOpen, !isPaused, closing == nil, pinged == nil, let interval = request.pingInterval,
            lastReceived.advanced(by: interval * 7 / 8) <= now
        else { return false }
        pinged = now
        session.ping()
        return true
    }

    /// The time at which an open WebSocket must be checked or times out; `nil` if there is no limit.
    var deadline: UInt64? {
        // The frame that the server must answer may be queued behind much data that it is still reading.
        if let closing { return max(closing, lastTaken).advanced(by: request.closeTimeout) }
        if isPaused { return nil }
        if let pinged { return max(pinged, lastTaken).advanced(by: request.pongTimeout) }
        return request.pingInterval.map { lastReceived.advanced(by: $0) }
    }

    /// The error for a deadline that has passed.
    var timeout: NetworkError {
        let (what, limit, name) =
            closing != nil
            ? ("the server did not close the WebSocket within", request.closeTimeout, "closeTimeout")
            : ("nothing was received after a ping within", request.pongTimeout, "pongTimeout")
        var error = NetworkError(
            .timeout,
            during: .body,
            "\(what) \(limit)",
            advice: "increase WebSocket.Request.\(name), or check the server"
        )
        error.transportCode = 28
        return error
    }
}

extension NetworkError {
    /// Returns the error with the request that it belongs to.
    fileprivate func of(_ request: WebSocket.Request) -> NetworkError {
        var error = self
        error.request = request.head
        return error
    }
}
