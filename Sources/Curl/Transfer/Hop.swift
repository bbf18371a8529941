import BeagleNetHTTP
import CBeagleNetCurl

/// One request on the wire and its response, with its own easy handle. Used only on the loop's thread.
///
/// `@exclusivity(unchecked)` is safe because no code that accesses these properties calls anything that could re-enter
/// them.
final class Hop: CallbackContext {
    /// The next step after the response.
    enum Route {
        case final, redirect(TransferRequest), challenged(DigestSession), misdirected
        /// Send the request again on a new connection, because the last one was dead or lost before a response.
        case resend
        /// Send the request again without `Expect: 100-continue`, which the server doesn't support.
        case withoutExpect
    }

    /// The attempts to send the request. libcurl resends it by itself if a reused connection was lost.
    struct Attempts {
        /// The number of times that the request was about to be sent.
        var count = 0
        /// CURLINFO_REQUEST_SIZE before the last attempt, because libcurl adds up all attempts.
        var bytesBefore: Int64 = 0
        /// The number of connections that libcurl had opened at the last attempt.
        var connects = 0
    }

    /// After a complete response, the longest time in which the server may read nothing of the remaining request body.
    private static let refusalTime = Duration.seconds(1)

    let message: Message
    var request: TransferRequest { message.request }
    let origin: ParsedOrigin
    @exclusivity(unchecked) var easy: EasyHandle
    /// The alternative service to connect to instead of the origin.
    let alternative: AltSvcStore.Service?
    /// The transfer that owns this hop. Not reference-counted: the hop is reached only through the transfer, or in a
    /// libcurl callback while the loop retains the transfer.
    unowned(unsafe) let transfer: Transfer
    /// The loop. Not reference-counted: it lives as long as its thread, and the hop is used only on that thread.
    unowned(unsafe) let loop: EventLoop
    /// The sender of the request's body.
    @exclusivity(unchecked) var sender: BodySender
    private let entry: ResourceTracker.Entry

    /// The receiver of the response.
    @exclusivity(unchecked) var receiver: ResponseReceiver
    /// The next step, decided by the response head.
    var route = Route.final

    /// The reason for which a callback ended the hop; it takes precedence over libcurl's error.
    var failure: NetworkError?
    /// The attempts to send the request so far.
    @exclusivity(unchecked) var attempts = Attempts()
    /// The connection that the hop uses.
    @exclusivity(unchecked) var wire = Wire()
    /// The times of its progress.
    @exclusivity(unchecked) var timing: Timing
    /// Whether libcurl holds back the response.
    var isReceivePaused = false
    /// The limit on the receive rate; `nil` for no limit.
    @exclusivity(unchecked) var rateLimiter: ReceiveRateLimiter?
    /// The running call of the app's resolver, or `nil`. When it ends, the hop enters the multi handle.
    var resolution: Resolution?
    /// Whether the hop shares the tunnels of a proxy.
    var sharesTunnels = false
    /// The recorder of the sent head; `nil` if it isn't requested.
    let sentHead: SentHeadRecorder?

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
        let list = FieldList(fields, lines: lines)
        guard let easy = EasyHandle(list, in: group, from: loop.spareHandles) else { throw .noMemory }
        self.easy = easy
        self.transfer = transfer
        self.loop = loop
        entry = ResourceTracker.Entry(.hop, in: loop.resourceTracker)
        timing = Timing(
            lastActivity: loop.now,
            speed: message.request.options.extras?.minimumSpeed.map { SpeedWindow(minimum: $0) }
        )
        rateLimiter = receiveLimit.map { ReceiveRateLimiter(bytesPerSecond: $0) }
        try self.easy.apply(loop.sharedOptions)
        let options = HandleOptions.options(for: message, in: try makeContext(freshly: freshly))
        try self.easy.apply(options, to: origin, path: message.path)
        try configureCallbacks()
    }

    deinit {
        resolution?.task.cancel()
        sender.source?.close()
        leaveTunnels()
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
        timing.lastActivity = loop.now
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
        receiver.stopReading()
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
        // After an attempt, libcurl may be opening another connection.
        if attempts.count > 0, receiver.isConnected { return sender.isFinished ? .firstByte : .send }
        if easy.offset(CURLINFO_NAMELOOKUP_TIME_T) == 0 { return .resolve }
        // libcurl sets the connect time after the handshake, and libcurl 8 also sets the ports then.
        let isConnected = easy.offset(CURLINFO_CONNECT_TIME_T) > 0 || wire.sockets.contains(where: loop.isConnected)
        return isConnected && origin.isSecure && !isBeforeTunnel ? .tls : .connect
    }

    /// The time at which the hop counts as complete although libcurl continues; `nil` if it doesn't.
    var completionDeadline: UInt64? {
        if let discardDeadline = timing.discardDeadline { return discardDeadline }
        // During a pause the decoder may hold decoded bytes for which the reader has no room.
        guard !sender.isFinished, !sender.isPaused, !isReceivePaused, receiver.hasWholeBody else { return nil }
        // libcurl takes no more bytes before the last ones are within the limit.
        let wait = request.options.extras?.bandwidth.send.map { Duration.seconds(sender.lastCount) / $0 }
        return timing.lastActivity.advanced(by: Self.refusalTime + (wait ?? .zero))
    }

    /// Returns whether the response is complete although the server didn't read the rest of the request. The server may
    /// end the stream or connection to say so, which is no reason to discard the response (RFC 9113, 8.1).
    func hasEarlyResponse(_ code: CURLcode) -> Bool {
        guard !sender.isFinished, receiver.response != nil else { return false }
        if receiver.announcedLength != nil { return receiver.hasWholeBody }
        // libcurl sets no error text for a stream that it had already seen end cleanly.
        return code == CURLE_HTTP2_STREAM && easy.fields.errorText.pointee == 0
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
}
