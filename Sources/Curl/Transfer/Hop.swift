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

    /// The destination of the response body.
    enum Sink {
        case none, collect, pipe(BodyPipe), file(FileSink), discard
    }

    /// The largest discarded body that is read to the end so that the connection can be reused, in bytes.
    private static let discardLimit: Int64 = 64 << 10
    /// The longest wait for the end of a discarded body, about as long as opening another connection takes.
    private static let discardTime = Duration.milliseconds(250)
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
    let upload: (any UploadSource)?
    let decodes: Bool
    /// The lists other than the header fields that libcurl reads while the handle is in the multi handle.
    var lists: [LineList] = []
    private let entry: ResourceTracker.Entry

    @exclusivity(unchecked) private var head = ResponseHead()
    /// Whether the connection is established. A head received earlier is a proxy's response to CONNECT.
    @exclusivity(unchecked) private var isConnected = false
    /// Whether the most recent header line belonged to such a response.
    private var isReadingProxyHead = false
    @exclusivity(unchecked) private var collected = BodyBuffer()
    private var decoder: ContentDecoder?
    /// The number of bytes that the decoder has used of those that libcurl retains during a pause.
    private var usedBytes = 0
    @exclusivity(unchecked) private var sink = Sink.none
    private(set) var response: RawHead?
    private(set) var interim: [HTTPResponse] = []
    private(set) var route = Route.final

    /// The reason for which a callback ended the hop; it takes precedence over libcurl's error.
    var failure: NetworkError?
    /// Whether the body is discarded because the head alone decides the next step.
    var isDiscarding: Bool {
        if case .discard = sink { return true }
        return false
    }
    /// The time at which the rest of a discarded body, and its connection, are given up; `nil` if the body is not
    /// discarded.
    private var discardDeadline: UInt64?
    /// Whether the rest of a discarded body is not worth reading.
    private var stopsReadingBody = false
    /// Whether the pooled connection was dead or held unsolicited bytes, in which case nothing was sent.
    private(set) var isStale = false
    /// Whether two connections were lost before a response. libcurl 8 would go on to try connections in use.
    private(set) var lostTwice = false
    /// The number of times that the request was about to be sent.
    private(set) var sendAttempts = 0
    private(set) var bytesSent: Int64 = 0
    /// Whether libcurl has asked for bytes of the body; a streamed body has been opened then.
    private(set) var hasBegunBody = false
    /// CURLINFO_REQUEST_SIZE before the request was resent, because libcurl adds up all attempts.
    private var sentBefore: Int64 = 0
    private(set) var bytesReceived: Int64 = 0
    private(set) var decodedBytes: Int64 = 0
    @exclusivity(unchecked) private(set) var connection: Connections.Connection?
    private(set) var openedSockets: [Int32] = []
    private var knownConnects = 0
    private(set) var lastActivity: UInt64
    private(set) var isReceivePaused = false
    /// Whether the bytes that libcurl retained during a pause are discarded.
    private var isDropped = false
    private(set) var isSendPaused = false
    /// The origin whose addresses the app's resolver is looking up. The hop isn't in the multi handle until then.
    var resolving: Origin?
    private(set) var isUploaded: Bool
    /// Whether the server doesn't support `Expect: 100-continue`.
    private(set) var isExpectationRefused = false
    var connecting = Connecting()
    /// Whether the hop shares the tunnels of a proxy.
    var sharesTunnels = false
    /// Whether the host is an address that is excluded from the proxy.
    var bypassesProxy = false
    /// The state of the minimum-speed check; `nil` if there is no minimum.
    var speed: SpeedWindow?
    /// The limit on the receive rate; `nil` for no limit.
    @exclusivity(unchecked) var rateLimiter: ReceiveRateLimiter?
    /// The times at which libcurl took the request, was about to send it, had read the last of its body, and the
    /// response began. Set only if the request has a body.
    private var uploadTimes: (start: UInt64, begin: UInt64, end: UInt64, firstByte: UInt64) = (0, 0, 0, 0)
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
        decodes = Self.decodes(message)
        if let body = message.request.body {
            upload = try makeUploadSource(body, resourceTracker: loop.resourceTracker) { [weak transfer] in
                transfer?.resume()
            }
        } else {
            upload = nil
        }
        isUploaded = upload == nil || upload?.length == 0
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
        upload?.close()
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
        if upload != nil {
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
        isConnected = false
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
        isConnected = true
        isReadingProxyHead = false
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
        if upload != nil { uploadTimes = (uploadTimes.start, EventLoop.clock(), 0, 0) }
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
        guard let upload else { return 0 }
        lastActivity = loop.now
        hasBegunBody = true
        do throws(NetworkError) {
            switch try upload.read(into: buffer) {
            case .bytes(let count):
                bytesSent += Int64(count)
                if bytesSent == upload.length { endUpload() }
                if request.onProgress != nil { loop.noteProgress(transfer) }
                return count
            case .pending:
                isSendPaused = true
                return Int(CURL_READFUNC_PAUSE)
            case .end:
                endUpload()
                return 0
            }
        } catch {
            failure = error
            return Int(CURL_READFUNC_ABORT)
        }
    }

    private func endUpload() {
        guard !isUploaded else { return }
        isUploaded = true
        uploadTimes.end = EventLoop.clock()
    }

    /// Rewinds the body, because the connection was lost before a response and libcurl resends the request.
    private func seek(to offset: curl_off_t, from origin: Int32) -> Int32 {
        guard offset == 0, origin == SEEK_SET, request.canBeResent, let upload, upload.rewind() else {
            failure = .notSentAgain(request)
            return CURL_SEEKFUNC_FAIL
        }
        isUploaded = upload.length == 0
        bytesSent = 0
        return CURL_SEEKFUNC_OK
    }

    private func receiveHead(_ line: UnsafeRawBufferPointer) -> Int {
        guard isConnected else { return receiveProxyHead(line) }
        if head.takes(line) { return line.count }
        do throws(NetworkError) {
            switch try head.feed(line) {
            case .more: break
            case .interim(let response):
                interim.append(response)
                request.options.extras?.onInterim?.function(response)
                request.onHead?(response, request.head)
            case .complete(let response): try begin(response)
            }
            // Otherwise libcurl would resend the request itself, or wait for a body that is discarded.
            return isExpectationRefused || stopsReadingBody ? 0 : line.count
        } catch {
            failure = error
            return 0
        }
    }

    /// Checks a line of the response to CONNECT, which libcurl parses. libcurl rejects a NUL in any other head, but not
    /// here.
    private func receiveProxyHead(_ line: UnsafeRawBufferPointer) -> Int {
        isReadingProxyHead = true
        guard line.contains(0) else { return line.count }
        failure = CurlFailure.malformedProxyHead(request.options)
        return 0
    }

    private func begin(_ response: RawHead) throws(NetworkError) {
        let message = message
        let timeouts = message.request.options.timeouts
        self.response = response
        if upload != nil { uploadTimes.firstByte = EventLoop.clock() }
        lastActivity = loop.now
        restartSpeedWindow()
        // The loop has already scheduled the first-byte timeout, so only a shorter idle timeout needs scheduling.
        if let idle = timeouts.idle, timeouts.firstByte.map({ idle < $0 }) ?? true { loop.watchDeadline(of: transfer) }
        if connection != nil {
            let version = easy.long(CURLINFO_HTTP_VERSION)
            let isMultiplexed = version >= Int(CURL_HTTP_VERSION_2_0)
            connection?.isMultiplexed = isMultiplexed
            connection?.speaksHTTP3 = version == Int(CURL_HTTP_VERSION_3)
            if mayMultiplex {
                noteVersion(isMultiplexed: isMultiplexed)
                if let slot = transfer.slot { loop.recordProtocol(slot, isMultiplexed: isMultiplexed) }
            }
        }
        if response.status.code == 417, Self.sendsExpectContinue(message.request) {
            if canRetryWithoutExpect {
                isExpectationRefused = true
                return
            }
            // libcurl would resend the request with only the rest of its body. Over HTTP/2 it doesn't wait for consent.
            guard isUploaded || connection?.isMultiplexed == true else { throw .expectationFailed(response.head) }
        }
        if let memory = loop.memory { memory.take(response, to: message.request) }
        if alternative != nil { noteFallback() }
        // A server that times out an idle connection may answer 408 to a request that it hasn't seen.
        if response.status == .requestTimeout, sendAttempts == 1, easy.long(CURLINFO_NUM_CONNECTS) == 0,
            request.canBeResent, transfer.mayResend
        {
            route = .resend
            discardBody()
        } else if response.status == .misdirectedRequest, let alternative {
            loop.memory?.altSvc?.forget(alternative)
            guard request.body?.isReplayable != false else { return try beginBody(of: response) }
            route = .misdirected
            discardBody()
        } else if let digest = digest(after: response) {
            route = .challenged(digest)
            discardBody()
        } else if response.status.kind == .redirection,
            let next = try Redirect.next(
                after: response,
                to: message.request,
                followed: transfer.redirects,
                hsts: loop.memory?.hsts
            )
        {
            route = .redirect(next)
            discardBody()
        } else {
            try beginBody(of: response)
        }
    }

    /// Discards the body of a response whose head alone decides the next step. The connection is reused if the body
    /// ends soon.
    private func discardBody() {
        sink = .discard
        stopsReadingBody = announcedLength.map { $0 > Self.discardLimit } ?? endsWithConnection
        guard !stopsReadingBody, announcedLength != 0 || !isUploaded else { return }
        discardDeadline = loop.now.advanced(by: Self.discardTime)
        loop.watchDeadline(of: transfer)
    }

    private func beginBody(of response: RawHead) throws(NetworkError) {
        if let observe = request.onHead { observe(response.head, request.head) }
        if decodes, response.isEncoded, let encoding = response.head.headerFields[.contentEncoding] {
            decoder = try ContentDecoder(contentEncoding: encoding)
        }
        let length = announcedLength.map(Int.init)
        if let limit = request.options.maxBodyBytes, let length, length > limit, decoder == nil {
            throw .bodyTooLarge(limit)
        }
        switch request.delivery {
        case .stream:
            if length == nil, response.isEventStream { loop.noteLongLived(transfer) }
            let pipe = transfer.makePipe()
            sink = .pipe(pipe)
            transfer.deliverHead(response, from: self, body: pipe)
        case .file(let path) where response.status.kind == .successful:
            sink = .file(try FileSink(path: path, mayBlock: false))
        case .collect, .file:
            sink = .collect
            if let length { try collected.reserve(length) }
        }
        watchRefusal()
    }

    private func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        if isDropped { return 0 }
        if isReaderBehind || isRateLimited { return pause() }
        lastActivity = loop.now
        rateLimiter?.take(bytes.count, at: loop.now)
        if request.onProgress != nil { loop.noteProgress(transfer) }
        do throws(NetworkError) {
            if let decoder {
                guard try decode(bytes, by: decoder) else { return pause() }
            } else {
                bytesReceived += Int64(bytes.count)
                try accept(bytes)
            }
            watchRefusal()
            return bytes.count
        } catch {
            failure = error
            return 0
        }
    }

    /// Schedules a check if the response is complete before the request is: the server may not read the rest.
    private func watchRefusal() {
        if !isUploaded, completionDeadline != nil { loop.watchDeadline(of: transfer) }
    }

    private var isReaderBehind: Bool {
        if case .pipe(let pipe) = sink { return pipe.isFull() }
        return false
    }

    /// Returns the value that tells libcurl to retain the bytes of this call. libcurl passes them again after the
    /// pause.
    private func pause() -> Int {
        isReceivePaused = true
        if rateLimiter != nil { loop.watchDeadline(of: transfer) }
        return Int(CURL_WRITEFUNC_PAUSE)
    }

    /// Decodes as much as the reader can take. Returns false if bytes are left. libcurl passes all bytes again after
    /// the pause, perhaps split differently, and those already used are skipped.
    private func decode(_ bytes: UnsafeRawBufferPointer, by decoder: ContentDecoder) throws(NetworkError) -> Bool {
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

    private func accept(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        decodedBytes += Int64(bytes.count)
        if isDiscarding {
            guard decodedBytes <= Self.discardLimit else {
                throw NetworkError(.tooLarge, during: .body, "the body of a discarded response is too large")
            }
            return
        }
        if let limit = request.options.maxBodyBytes, decodedBytes > limit { throw .bodyTooLarge(limit) }
        switch sink {
        case .collect: try collected.append(bytes)
        case .pipe(let pipe):
            pipe.write(bytes)
            loop.noteWritten(pipe)
        case .file(let file): try file.write(bytes)
        case .discard, .none: break
        }
    }

    // MARK: calls from the loop

    /// Resumes a paused hop if its reader has room, its rate limit allows more, or its body has bytes.
    ///
    /// - Returns: The error with which a callback of libcurl ended the hop in the meantime.
    func resume() -> NetworkError? {
        let wasPaused = (isReceivePaused, isSendPaused)
        isReceivePaused = isReceivePaused && (isReaderBehind || isRateLimited)
        isSendPaused = false
        guard wasPaused != (isReceivePaused, isSendPaused) else { return nil }
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

    /// Checks that head and body are complete after libcurl reported success.
    func finish() throws(NetworkError) -> Data {
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
        if !isDiscarding, connection?.wasTruncated == true, endsWithConnection { throw .missingCloseNotify }
        if case .file(let file) = sink { try file.commit() }
        return collected.take()
    }

    /// Returns the trailers, the fields after the body.
    func trailers() throws(NetworkError) -> HTTPFields {
        try head.trailers()
    }

    /// Gives up an incomplete body and returns the part of it that is in memory.
    func abandon() -> Data {
        sink = .none
        return collected.take()
    }

    /// The current phase of the hop.
    var phase: NetworkError.Phase {
        if response != nil { return .body }
        if sendAttempts > 0 { return isUploaded ? .firstByte : .send }
        if easy.offset(CURLINFO_NAMELOOKUP_TIME_T) == 0 { return .resolve }
        // libcurl sets the connect time after the handshake, and libcurl 8 also sets the ports then.
        let isConnected = easy.offset(CURLINFO_CONNECT_TIME_T) > 0 || openedSockets.contains(where: loop.isConnected)
        return isConnected && origin.isSecure && !isBeforeTunnel ? .tls : .connect
    }

    /// The length of the encoded response body, if known (RFC 9112, 6.3).
    var announcedLength: Int64? {
        guard let response else { return nil }
        let hasNone = message.method == .head || response.status.code == 204 || response.status.code == 304
        return hasNone ? 0 : response.contentLength
    }

    /// The time at which the hop counts as complete although libcurl continues; `nil` if it doesn't.
    var completionDeadline: UInt64? {
        if let discardDeadline { return discardDeadline }
        // During a pause the decoder may hold decoded bytes for which the reader has no room.
        guard !isUploaded, !isSendPaused, !isReceivePaused, response != nil, announcedLength == bytesReceived
        else { return nil }
        return lastActivity.advanced(by: Self.refusalTime)
    }

    /// Returns whether the response is complete although the server didn't read the rest of the request. The server may
    /// end the stream or connection to say so, which is no reason to discard the response (RFC 9113, 8.1).
    func hasEarlyResponse(_ code: CURLcode) -> Bool {
        guard !isUploaded, response != nil else { return false }
        if let length = announcedLength { return length == bytesReceived }
        // libcurl sets no error text for a stream that it had already seen end cleanly.
        return code == CURLE_HTTP2_STREAM && easy.fields.errorText.pointee == 0
    }

    /// Whether the end of the connection delimits the body (RFC 9112, 6.3).
    private var endsWithConnection: Bool {
        guard let response, announcedLength == nil, connection?.isMultiplexed != true else { return false }
        return !response.head.headerFields.contains(.transferEncoding)
    }

    /// The number of bytes of all received heads and trailers.
    var headBytesReceived: Int { head.bytes }

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

    /// Sets the times at which the request was about to be sent, had been sent, and the response began. A time is zero
    /// if the hop didn't get that far.
    ///
    /// With a body, our own marks are used: libcurl's time of the first byte is that of the sent body, and its start is
    /// the time at which the first part of the body had been sent.
    func setMarks(of metrics: inout TransferMetrics, start: Duration, firstByte: Duration) {
        guard upload != nil else {
            metrics.requestStart = start
            metrics.requestEnd = sendAttempts > 0 ? start : .zero
            metrics.firstByte = firstByte
            return
        }
        func mark(_ time: UInt64) -> Duration {
            time == 0 ? .zero : .nanoseconds(Int64(time - uploadTimes.start))
        }
        metrics.requestStart = mark(uploadTimes.begin)
        metrics.requestEnd = isUploaded && uploadTimes.end == 0 ? metrics.requestStart : mark(uploadTimes.end)
        metrics.firstByte = mark(uploadTimes.firstByte)
    }

    /// Notes that libcurl is about to take the request.
    func willStart() {
        if upload != nil { uploadTimes.start = EventLoop.clock() }
    }

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
        if code == CURLE_BAD_FUNCTION_ARGUMENT, isReadingProxyHead {
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
            bytesSent: bytesSent,
            bytesToSend: upload?.length,
            bytesReceived: bytesReceived,
            bytesToReceive: announcedLength
        )
    }
}

extension NetworkError {
    static var noMemory: NetworkError {
        NetworkError(.other, during: .queue, "libcurl did not accept the request: out of memory")
    }

    /// Returns the error for a 417 after part of a body was sent that can't be replayed.
    fileprivate static func expectationFailed(_ response: HTTPResponse) -> NetworkError {
        var error = NetworkError(
            .status,
            during: .firstByte,
            "the server rejected Expect: 100-continue (417) after the streamed body began, and it cannot be replayed",
            advice: "make the body replayable, or set TransferOptions.expect to .never"
        )
        error.response = response
        return error
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
