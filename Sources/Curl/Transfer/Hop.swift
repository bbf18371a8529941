import BeagleNetHTTP
import CBeagleNetCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// One request on the wire and its response, with its own easy handle. Used only on the loop's thread.
///
/// `@exclusivity(unchecked)` is safe because no code that accesses these properties calls anything that could re-enter
/// them.
final class Hop {
    /// The next step after the response.
    enum Route {
        case final, redirect(TransferRequest), challenged(DigestSession), resend, misdirected
    }

    /// After a complete response, the longest time in which the server may read nothing of the remaining request body.
    private static let refusalTime = Duration.seconds(1)

    let message: Message
    var request: TransferRequest { message.request }
    let origin: ParsedOrigin
    /// The whole URL, parsed, if libcurl has to send it to a proxy.
    var wholeURL: ParsedURL?
    let easy: EasyHandle
    /// The alternative service to connect to instead of the origin.
    let alternative: AltSvcStore.Service?
    /// The transfer that owns this hop. Not reference-counted: the hop is reached only through the transfer, or in a
    /// libcurl callback while the loop retains the transfer.
    unowned(unsafe) let transfer: Transfer
    /// The loop. Not reference-counted: it lives as long as its thread, and the hop is used only on that thread.
    unowned(unsafe) let loop: EventLoop
    /// The sender of the request's body.
    @exclusivity(unchecked) var sender: BodySender
    /// The lists other than the header fields that libcurl reads while the handle is in the multi handle.
    var lists: [LineList] = []
    private let entry: ResourceTracker.Entry

    /// The receiver of the response.
    @exclusivity(unchecked) var receiver: ResponseReceiver
    /// The next step, decided by the response head.
    var route = Route.final

    /// The reason for which a callback ended the hop; it takes precedence over libcurl's error.
    var failure: NetworkError?
    /// The time at which the rest of a discarded body, and its connection, are given up; `nil` if the body is not
    /// discarded.
    var discardDeadline: UInt64?
    /// Whether the pooled connection was dead or held unsolicited bytes, in which case nothing was sent.
    private(set) var isStale = false
    /// Whether two connections were lost before a response. libcurl 8 would go on to try connections in use.
    private(set) var lostTwice = false
    /// The number of times that the request was about to be sent.
    private(set) var sendAttempts = 0
    /// CURLINFO_REQUEST_SIZE before the request was resent, because libcurl adds up all attempts.
    private var sentBefore: Int64 = 0
    @exclusivity(unchecked) private(set) var connection: Connections.Connection?
    private(set) var openedSockets: [Int32] = []
    private var knownConnects = 0
    /// The time at which bytes were last sent or received.
    var lastActivity: UInt64
    /// Whether libcurl holds back the response.
    var isReceivePaused = false
    /// Whether the bytes that libcurl retained during a pause are discarded.
    private(set) var isDropped = false
    /// The origin whose addresses the app's resolver is looking up. The hop isn't in the multi handle until then.
    var resolving: Origin?
    /// Whether the server doesn't support `Expect: 100-continue`.
    var isExpectationRefused = false
    var connecting = Connecting()
    /// Whether the hop shares the tunnels of a proxy.
    var sharesTunnels = false
    /// Whether the host is an address that is excluded from the proxy.
    var bypassesProxy = false
    /// The state of the minimum-speed check; `nil` if there is no minimum.
    var speed: SpeedWindow?
    /// The limit on the receive rate; `nil` for no limit.
    @exclusivity(unchecked) var rateLimiter: ReceiveRateLimiter?
    /// The negotiated TLS parameters.
    private var session: TransferMetrics.Details?
    /// The recorder of the sent head; `nil` if it isn't requested.
    private let sentHead: SentHeadRecorder?

    /// Prepares a handle for the transfer's request, which has been checked.
    ///
    /// - Parameters:
    ///   - origin: The scheme and host to connect to.
    ///   - alternative: The alternative service to connect to instead of the origin.
    ///   - freshly: Whether to open a new connection, because the last one was dead.
    init(
        of transfer: Transfer,
        to origin: ParsedOrigin,
        on loop: EventLoop,
        via alternative: AltSvcStore.Service?,
        freshly: Bool
    ) throws(NetworkError) {
        let message = transfer.message
        self.message = message
        self.origin = origin
        self.alternative = alternative
        let decodes = Self.decodes(message)
        receiver = ResponseReceiver(
            isHead: message.method == .head,
            decodes: decodes,
            maxBodyBytes: message.request.options.maxBodyBytes
        )
        let upload = try message.request.body.map { body throws(NetworkError) in
            try makeUploadSource(body, resourceTracker: loop.resourceTracker) { [weak transfer] in transfer?.resume() }
        }
        sender = BodySender(upload)
        let keepsHead = message.request.options.extras?.keepsRequestHead == true || message.request.onHop != nil
        sentHead = keepsHead ? SentHeadRecorder() : nil
        let lines = Self.addedLines(to: message, decodes: decodes)
        let fields = try Self.fields(of: message, by: loop.memory, via: alternative, answering: transfer.digest)
        let group = transfer.webSocket == nil ? nil : loop.takeGroup()
        guard let easy = EasyHandle(FieldList(fields, lines: lines), in: group) else { throw .noMemory }
        self.easy = easy
        self.transfer = transfer
        self.loop = loop
        entry = ResourceTracker.Entry(.hop, in: loop.resourceTracker)
        lastActivity = loop.now
        try configure(freshly: freshly)
        configureCallbacks()
    }

    deinit {
        sender.source?.close()
        leaveTunnels()
    }

    // MARK: libcurl callbacks

    private func configureCallbacks() {
        let me = Unmanaged.passUnretained(self).toOpaque()
        easy.set(.owner, me)
        easy.set(.headContext, me)
        easy.set(.head) { bytes, size, count, context in
            Hop.with(context) { $0.receiveHead(UnsafeRawBufferPointer(start: bytes, count: size * count)) }
        }
        easy.set(.bodyContext, me)
        easy.set(.body) { bytes, size, count, context in
            Hop.with(context) { $0.receiveBody(UnsafeRawBufferPointer(start: bytes, count: size * count)) }
        }
        if sender.source != nil {
            easy.set(.uploadContext, me)
            easy.set(.upload) { bytes, size, count, context in
                Hop.from(context).send(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
            }
            easy.set(.seekContext, me)
            beagle_easy_set_seek_callback(easy.pointer) { context, offset, origin in
                Hop.from(context).seek(to: offset, from: origin)
            }
        }
        if sentHead != nil {
            easy.set(.debugContext, me)
            beagle_easy_set_debug_callback(easy.pointer) { _, kind, bytes, count, context in
                if kind == CURLINFO_HEADER_OUT || kind == CURLINFO_DATA_OUT {
                    Hop.with(context) { $0.take(sent: UnsafeRawBufferPointer(start: bytes, count: count)) }
                }
                return 0
            }
        }
        easy.set(.requestContext, me)
        beagle_easy_set_request_callback(easy.pointer) { context, remote, local, remotePort, localPort in
            Hop.with(context) { hop in
                if let refusal = hop.addressGuardError(of: remote) {
                    hop.failure = refusal
                    return CURL_PREREQFUNC_ABORT
                }
                guard hop.usesAdvertisedProtocol else { return CURL_PREREQFUNC_ABORT }
                let connection = Connections.Key(local, localPort, remote, remotePort)
                return hop.willSend(on: connection) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            }
        }
        easy.set(.openContext, me)
        beagle_easy_set_open_callback(easy.pointer) { context, _, address in
            guard let address else { return CURL_SOCKET_BAD }
            return Hop.from(context).openSocket(address)
        }
        // A connection outlives the hop that opened it, so the loop handles its closing.
        easy.set(.closeContext, Unmanaged.passUnretained(loop).toOpaque())
        beagle_easy_set_close_callback(easy.pointer) { context, socket in
            EventLoop.from(context).closeSocket(socket)
        }
    }

    /// Returns the hop from a callback's context. The transfer retains it while its handle is in the multi handle.
    static func from(_ context: UnsafeMutableRawPointer?) -> Hop {
        guard let context else { preconditionFailure("libcurl called back without its context") }
        return Unmanaged<Hop>.fromOpaque(context).takeUnretainedValue()
    }

    /// Calls `body` with the hop from a callback's context, without retaining it: the loop holds its transfer.
    private static func with<Value>(_ context: UnsafeMutableRawPointer?, _ body: (Hop) -> Value) -> Value {
        guard let context else { preconditionFailure("libcurl called back without its context") }
        return Unmanaged<Hop>.fromOpaque(context)._withUnsafeGuaranteedRef(body)
    }

    private func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Int32 {
        receiver.willConnect()
        if let refusal = addressGuardError(of: address) {
            failure = refusal
            return CURL_SOCKET_BAD
        }
        let socket = beagle_socket(address)
        guard socket >= 0 else {
            failure = NetworkError(
                .connect,
                during: .connect,
                "cannot create a socket: \(String(cString: strerror(errno)))",
                advice: "increase the limit of open files (ulimit -n)"
            )
            return CURL_SOCKET_BAD
        }
        connecting.resolveStart = nil
        openedSockets.append(socket)
        loop.openedSocket(socket, mayHang: mayMultiplex)
        return socket
    }

    /// Notes that a connection is ready and the request is about to be sent on it. Returns false to stop it.
    private func willSend(on key: Connections.Key) -> Bool {
        receiver.didConnect()
        sendAttempts += 1
        if sendAttempts > 1 { sentBefore = Int64(easy.long(CURLINFO_REQUEST_SIZE)) }
        lastActivity = loop.now
        connecting = Connecting()
        restartSpeedWindow()
        guard sendAttempts == 1 || (sendAttempts == 2 && request.canBeResent) else {
            lostTwice = request.canBeResent && transfer.mayResend
            if !lostTwice { failure = .notSentAgain(request) }
            return false
        }
        connection?.end(at: loop.poller.pollCount)
        connection = nil
        let connects = easy.long(CURLINFO_NUM_CONNECTS)
        defer { knownConnects = connects }
        if connects > knownConnects {
            // If the host has several addresses, creating a socket may have failed for one and succeeded for another.
            failure = nil
            loop.forgetLost(openedSockets)
            connection = loop.connections.add(key, openedSockets, to: easy.remoteAddress)
            noteTunnel(connection)
        } else {
            let pooled = loop.connections[key]
            isStale = pooled?.shutIfStale(after: loop.poller) ?? false
            if isStale { return false }
            connection = pooled
        }
        connection?.begin()
        if let sentHead {
            sentHead.begin()
            easy.set(.verbose, 1)
        }
        sender.willSend()
        if origin.isSecure {
            session = connection?.session ?? loop.tlsSession.details(of: easy)
            connection?.session = session
            if connects > 0, let tls = TLSSession.watchEnd(of: easy) { loop.connections.note(tls, of: connection) }
        }
        return true
    }

    /// Records sent bytes. Verbose mode, which libcurl requires for this, is turned off as soon as possible because it
    /// is expensive.
    private func take(sent bytes: UnsafeRawBufferPointer) {
        guard let sentHead else { return }
        sentHead.take(bytes)
        if sentHead.isWhole { easy.set(.verbose, 0) }
    }

    private func send(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        lastActivity = loop.now
        do throws(NetworkError) {
            guard let count = try sender.send(into: buffer) else { return Int(CURL_READFUNC_PAUSE) }
            if count > 0, request.onProgress != nil { loop.noteProgress(transfer) }
            return count
        } catch {
            failure = error
            return Int(CURL_READFUNC_ABORT)
        }
    }

    /// Rewinds the body, because the connection was lost before a response and libcurl resends the request.
    private func seek(to offset: curl_off_t, from origin: Int32) -> Int32 {
        guard offset == 0, origin == SEEK_SET, request.canBeResent, sender.rewind() else {
            failure = .notSentAgain(request)
            return CURL_SEEKFUNC_FAIL
        }
        return CURL_SEEKFUNC_OK
    }

    // MARK: calls from the loop

    /// Resumes a paused hop if its reader has room, its rate limit allows more, or its body has bytes.
    ///
    /// - Returns: The error with which a callback of libcurl ended the hop in the meantime.
    func resume() -> NetworkError? {
        let wasPaused = (isReceivePaused, sender.isPaused)
        isReceivePaused = isReceivePaused && (receiver.isReaderBehind || isRateLimited)
        sender.isPaused = false
        guard wasPaused != (isReceivePaused, sender.isPaused) else { return nil }
        lastActivity = loop.now
        restartSpeedWindow()
        curl_easy_pause(easy.pointer, isReceivePaused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
        return failure
    }

    /// Makes libcurl free the body bytes that it retains during a pause, before the hop leaves the multi handle.
    /// libcurl 7.88 leaks them if the connection still has other users (`multi_done` returns before it frees
    /// `tempwrite`). There is nothing to free if libcurl has ended the hop itself, for example because an upload
    /// failed.
    func dropPaused() {
        guard isReceivePaused else { return }
        isDropped = true
        curl_easy_pause(easy.pointer, CURLPAUSE_CONT)
    }

    /// Checks that the response is complete after libcurl reported success, and returns its collected body.
    func finish() throws(NetworkError) -> Data {
        try receiver.finish(wasTruncated: connection?.wasTruncated == true, isMultiplexed: isMultiplexed)
    }

    /// Whether the connection carries several responses.
    var isMultiplexed: Bool { connection?.isMultiplexed == true }

    /// The current phase of the hop.
    var phase: NetworkError.Phase {
        if receiver.response != nil { return .body }
        if sendAttempts > 0 { return sender.isFinished ? .firstByte : .send }
        if easy.offset(CURLINFO_NAMELOOKUP_TIME_T) == 0 { return .resolve }
        // libcurl sets the connect time after the handshake, and libcurl 8 also sets the ports then.
        let isConnected = easy.offset(CURLINFO_CONNECT_TIME_T) > 0 || openedSockets.contains(where: loop.isConnected)
        return isConnected && origin.isSecure && !isBeforeTunnel ? .tls : .connect
    }

    /// The time at which the hop counts as complete although libcurl continues; `nil` if it doesn't.
    var completionDeadline: UInt64? {
        if let discardDeadline { return discardDeadline }
        // During a pause the decoder may hold decoded bytes for which the reader has no room.
        guard !sender.isFinished, !sender.isPaused, !isReceivePaused, receiver.hasWholeBody else { return nil }
        return lastActivity.advanced(by: Self.refusalTime)
    }

    /// Returns whether the response is complete although the server didn't read the rest of the request. The server may
    /// end the stream or connection to say so, which is no reason to discard the response (RFC 9113, 8.1).
    func hasEarlyResponse(_ code: CURLcode) -> Bool {
        guard !sender.isFinished, receiver.response != nil else { return false }
        if receiver.announcedLength != nil { return receiver.hasWholeBody }
        // libcurl sets no error text for a stream that it had already seen end cleanly.
        return code == CURLE_HTTP2_STREAM && easy.fields.errorText.pointee == 0
    }

    /// The number of bytes of the request head in its last attempt.
    var headBytesSent: Int64 {
        let sent = Int64(easy.long(CURLINFO_REQUEST_SIZE)) - sentBefore
        return Self.countsBodies ? max(0, sent - easy.offset(CURLINFO_SIZE_UPLOAD_T)) : sent
    }

    /// Whether CURLINFO_REQUEST_SIZE of this libcurl includes the body: 8.14 does, 7.88 doesn't.
    private static let countsBodies: Bool = {
        guard let version = curl_version_info(CURLVERSION_FIRST) else { return false }
        // The version that rewrote sending.
        return version.pointee.version_num >= 0x08_07_00
    }()

    /// The TLS parameters and the sent head; `nil` if there are neither.
    var details: TransferMetrics.Details? {
        guard let head = sentHead?.head else { return session }
        return TransferMetrics.Details(
            tlsVersion: session?.tlsVersion ?? "",
            tlsCipher: session?.tlsCipher ?? "",
            requestHead: head
        )
    }

    /// Returns the error for a libcurl code.
    func error(_ code: CURLcode, during phase: NetworkError.Phase? = nil) -> NetworkError {
        // libcurl returns this for a proxy's header field that it cannot store, such as one with a NUL or without a
        // colon.
        if code == CURLE_BAD_FUNCTION_ARGUMENT, receiver.isReadingProxyHead {
            return CurlFailure.malformedProxyHead(request.options)
        }
        return CurlFailure.error(
            code,
            String(cString: easy.fields.errorText),
            during: phase ?? self.phase,
            with: request.options,
            isOfProxy: easy.long(CURLINFO_PROXY_SSL_VERIFYRESULT) != 0
        )
    }

    var progress: TransferRequest.Progress {
        TransferRequest.Progress(
            bytesSent: sender.bytesSent,
            bytesToSend: sender.source?.length,
            bytesReceived: receiver.bytesReceived,
            bytesToReceive: receiver.announcedLength
        )
    }
}

extension NetworkError {
    static var noMemory: NetworkError {
        NetworkError(.other, during: .queue, "libcurl did not accept the request: out of memory")
    }

    fileprivate static func notSentAgain(_ request: TransferRequest) -> NetworkError {
        let isBodyGone = request.resendPolicy.allows(request.head) && request.body?.isReplayable == false
        let (reason, advice) =
            isBodyGone
            ? ("its streamed body cannot be replayed", "make the body replayable, or use bytes or a file")
            : (
                "the server may have processed it",
                "check with the server, or send an Idempotency-Key header that it supports"
            )
        return NetworkError(
            .network,
            during: .firstByte,
            "the connection was lost before a response was received, and the request was not retried because \(reason)",
            advice: advice
        )
    }
}
