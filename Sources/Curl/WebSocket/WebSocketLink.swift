import BeagleNetHTTP
import CBeagleNetCurl

/// One WebSocket's end on the loop's thread: moves bytes between libcurl's connection and the protocol, and messages
/// between the protocol and the app's pipe. Reached only on that thread, but for `pipe` and `request`.
final class WebSocketLink {
    /// Bytes read in one go, and how often in one turn: other transfers wait meanwhile.
    private static let pieceSize = 64 << 10
    private static let piecesPerTurn = 16
    /// Bytes that the system takes before it can send them. It would take megabytes, and a ping or close be behind those.
    private static let unsentLimit: Int32 = 128 << 10

    let request: WebSocketRequest
    let pipe: WebSocketPipe
    /// Until the server has agreed.
    private var handshake: WebSocketHandshake?
    private var session: WebSocketSession
    /// The connection's socket; nil before there is one.
    private(set) var socket: Int32?
    /// What goes out now, in one piece of memory that stays where it is: see `EasyHandle.send`.
    private var chunk: [UInt8]
    private var sent = 0
    /// Why nothing more goes out; what the server sent before may still be read.
    private var sendFailure: CURLcode?
    private var isPaused = false
    private var lastReceived: UInt64 = 0
    /// When the socket took bytes that it had refused before: the server had read some.
    private var lastTaken: UInt64 = 0
    private var isRefused = false
    /// When the ping was made ready that nothing came after.
    private var pinged: UInt64?
    /// When the first side ended.
    private var closing: UInt64?

    init(_ request: WebSocketRequest, _ handshake: WebSocketHandshake, ledger: Ledger?) {
        self.request = request
        self.handshake = handshake
        chunk = handshake.message
        session = WebSocketSession(maxMessageBytes: request.maxMessageBytes)
        pipe = WebSocketPipe(of: request.head, ledger: ledger)
    }

    /// Whether the server has agreed.
    var isOpen: Bool { handshake == nil }

    /// libcurl has made the connection.
    func begin(on socket: Int32, at now: UInt64) {
        self.socket = socket
        lastReceived = now
        beagle_socket_limit_unsent(socket, Self.unsentLimit)
    }

    /// What the socket is watched for.
    var interest: Int32 {
        (isPaused ? CURL_POLL_NONE : CURL_POLL_IN) | (sent < chunk.count ? CURL_POLL_OUT : CURL_POLL_NONE)
    }

    // MARK: moving

    /// Moves what can be moved.
    ///
    /// - Throws: what the connection ended with. Where the pipe has been told of the end before, nobody hears of it.
    func serve(_ transfer: Transfer, _ hop: Hop, at now: UInt64) throws(NetworkError) {
        takePosted()
        flush(hop, at: now)
        let unsentBytes = unsentBytes
        let end = try receive(transfer, hop, at: now)
        flush(hop, at: now)
        if session.isClosing, closing == nil { closing = now }
        // What the server's end made unwanted was not sent.
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

    /// Sends as much as the socket takes.
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

    /// Receives as much as is there and the reader keeps up with; gives what the connection ended with, if it did.
    private func receive(_ transfer: Transfer, _ hop: Hop, at now: UInt64) throws(NetworkError) -> NetworkError? {
        let wasPaused = isPaused
        isPaused = false
        let result = withUnsafeTemporaryAllocation(byteCount: Self.pieceSize, alignment: 1) { buffer in
            for _ in 0..<Self.piecesPerTurn {
                // TLS may hold bytes that the socket knows nothing of, so that only libcurl can say there are none.
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

    /// What the end of the connection means.
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

    // MARK: time

    /// Makes a ping ready that is due, or nearly: all WebSockets are looked at for each that is. It goes out with the next
    /// `serve`.
    func pingIfDue(at now: UInt64) -> Bool {
        guard isOpen, !isPaused, closing == nil, pinged == nil, let interval = request.pingInterval,
            lastReceived.advanced(by: interval * 7 / 8) <= now
        else { return false }
        pinged = now
        session.ping()
        return true
    }

    /// When an open WebSocket has to be looked at, or is given up; nil while it may wait for ever.
    var deadline: UInt64? {
        // What the server is to answer may be behind much that it is reading.
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
            advice: "increase WebSocketRequest.\(name), or check the server"
        )
        error.transportCode = 28
        return error
    }
}

extension NetworkError {
    /// The error, with the request that it is about.
    fileprivate func of(_ request: WebSocketRequest) -> NetworkError {
        var error = self
        error.request = request.head
        return error
    }
}
