import BeagleNetHTTP
import CBeagleNetCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// One message on the wire and its answer, on an easy handle of its own. Reached only on the loop's thread.
///
/// What is `@exclusivity(unchecked)` is read and set in steps none of which calls anything that could come back to it.
final class Hop {
    /// What the answer leads to.
    enum Route {
        case final, redirect(TransferRequest), challenged(DigestSession), resend, misdirected
    }

    /// Where the bytes of the answer go.
    enum Sink {
        case none, collect, pipe(BodyPipe), file(FileSink), discard
    }

    /// The largest unwanted body that is read to keep the connection, in bytes.
    private static let discardLimit: Int64 = 64 << 10
    /// How long the end of an unwanted body is waited for: about as long as another connection takes.
    private static let discardTime = Duration.milliseconds(250)
    /// How long the server of a whole answer may take nothing of the message before the rest of that is given up.
    private static let refusalTime = Duration.seconds(1)

    let message: Message
    var request: TransferRequest { message.request }
    let site: Site
    /// The whole URL taken apart, where libcurl has to write it for a proxy.
    var wholeURL: ParsedURL?
    let easy: EasyHandle
    /// Who is asked in the place of the URL's origin.
    let alternative: AltSvcStore.Service?
    /// Without the count that `unowned` keeps: the transfer owns this hop, and every way to it leads through the transfer
    /// or through a callback that libcurl makes while the loop holds the transfer.
    unowned(unsafe) let transfer: Transfer
    /// Likewise: the loop lives as long as its thread, on which alone this object is reached.
    unowned(unsafe) let loop: EventLoop
    let upload: (any UploadSource)?
    let decodes: Bool
    /// What libcurl reads besides the fields, as long as the handle is in the multi.
    var lists: [LineList] = []
    private let entry: Ledger.Entry

    @exclusivity(unchecked) private var head = ResponseHead()
    /// Whether the connection is ready. A head that comes before is a proxy's answer to CONNECT.
    @exclusivity(unchecked) private var isConnected = false
    /// Whether a line of such an answer was the last that came.
    private var isReadingProxyHead = false
    @exclusivity(unchecked) private var collected = BodyBuffer()
    private var decoder: ContentDecoder?
    /// Bytes that the decoder has used of those that libcurl keeps during a pause.
    private var usedBytes = 0
    @exclusivity(unchecked) private var sink = Sink.none
    private(set) var response: RawHead?
    private(set) var interim: [HTTPResponse] = []
    private(set) var route = Route.final

    /// Why a callback ended the hop; goes before what libcurl says.
    var failure: NetworkError?
    /// Whether the head says all: the body is not wanted, whatever becomes of it.
    var isDiscarding: Bool {
        if case .discard = sink { return true }
        return false
    }
    /// When the rest of an unwanted body is given up, and the connection with it; `nil` if the body is wanted.
    private var discardEnd: UInt64?
    /// Whether an unwanted body is not worth being read to its end.
    private var isCutShort = false
    /// The pooled connection was dead or held bytes that are no answer to this message; nothing was sent.
    private(set) var isStale = false
    /// Two connections went away before they answered: libcurl 8 would go on to try busy ones.
    private(set) var isSentAway = false
    /// Times that the message was about to be sent.
    private(set) var sends = 0
    private(set) var bytesSent: Int64 = 0
    /// Whether bytes of the body were asked for: where it comes from a stream, that has begun.
    private(set) var hasBegunBody = false
    /// CURLINFO_REQUEST_SIZE when the message was sent anew: libcurl goes on counting.
    private var sentBefore: Int64 = 0
    private(set) var bytesReceived: Int64 = 0
    private(set) var decodedBytes: Int64 = 0
    @exclusivity(unchecked) private(set) var connection: Connections.Connection?
    private(set) var openedSockets: [Int32] = []
    private var knownConnects = 0
    private(set) var lastActivity: UInt64
    private(set) var isReceivePaused = false
    /// What libcurl kept during a pause is not wanted any more.
    private var isDropped = false
    private(set) var isSendPaused = false
    /// Whether the app is asked for the host's addresses; the hop is not yet in the multi.
    var resolving: Origin?
    private(set) var isUploaded: Bool
    /// The server does not know how to consent to a body.
    private(set) var isExpectationRefused = false
    var connecting = Connecting()
    /// Whether it is one of those that share the tunnels of a proxy.
    var sharesTunnels = false
    /// Whether the host is an address that is asked without the proxy.
    var isException = false
    /// nil where a body may be as slow as it likes.
    var speed: SpeedWatch?
    /// How fast the body may come; `nil` if as fast as it likes.
    @exclusivity(unchecked) var pace: ReceivePace?
    /// When the message was about to go out, when the last of its body was taken, and when the answer came; only where
    /// there is a body.
    private var uploadTimes: (begin: UInt64, end: UInt64, answer: UInt64) = (0, 0, 0)
    /// What was agreed on with TLS.
    private var session: TransferMetrics.Details?
    /// Set where the head is to be told as it was sent.
    private let sentHead: SentHead?

    /// Prepares a handle for the transfer's message, which was checked.
    ///
    /// - Parameters:
    ///   - site: where the message goes.
    ///   - alternative: who is asked in the place of the message's origin.
    ///   - freshly: on a connection of its own, because the last one proved dead.
    init(
        of transfer: Transfer,
        to site: Site,
        on loop: EventLoop,
        via alternative: AltSvcStore.Service?,
        freshly: Bool
    ) throws(NetworkError) {
        let message = transfer.message
        self.message = message
        self.site = site
        self.alternative = alternative
        decodes = Self.decodes(message)
        if let body = message.request.body {
            upload = try makeUploadSource(body, ledger: loop.ledger) { [weak transfer] in transfer?.resume() }
        } else {
            upload = nil
        }
        isUploaded = upload == nil || upload?.length == 0
        let keepsHead = message.request.options.extras?.keepsRequestHead == true || message.request.onHop != nil
        sentHead = keepsHead ? SentHead() : nil
        let lines = Self.addedLines(to: message, decodes: decodes)
        let fields = try Self.fields(of: message, by: loop.memory, via: alternative, answering: transfer.digest)
        let group = transfer.webSocket == nil ? nil : loop.takeGroup()
        guard let easy = EasyHandle(FieldList(fields, lines: lines), in: group) else { throw .noMemory }
        self.easy = easy
        self.transfer = transfer
        self.loop = loop
        entry = Ledger.Entry(.hop, in: loop.ledger)
        lastActivity = loop.now
        try configure(freshly: freshly)
        configureCallbacks()
    }

    deinit {
        upload?.close()
        leaveTunnels()
    }

    // MARK: what libcurl tells

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
                if let refusal = hop.guardsRefusal(of: remote) {
                    hop.failure = refusal
                    return CURL_PREREQFUNC_ABORT
                }
                guard hop.speaksAsAnnounced else { return CURL_PREREQFUNC_ABORT }
                let connection = Connections.Key(local, localPort, remote, remotePort)
                return hop.willSend(on: connection) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            }
        }
        easy.set(.openContext, me)
        beagle_easy_set_open_callback(easy.pointer) { context, _, address in
            guard let address else { return CURL_SOCKET_BAD }
            return Hop.from(context).openSocket(address)
        }
        // A connection outlives the hop that opened it, so closing is told to the loop.
        easy.set(.closeContext, Unmanaged.passUnretained(loop).toOpaque())
        beagle_easy_set_close_callback(easy.pointer) { context, socket in
            EventLoop.from(context).closeSocket(socket)
        }
    }

    /// The hop behind a callback's context: the transfer keeps it while its handle is in the multi.
    static func from(_ context: UnsafeMutableRawPointer?) -> Hop {
        guard let context else { preconditionFailure("libcurl called back without its context") }
        return Unmanaged<Hop>.fromOpaque(context).takeUnretainedValue()
    }

    /// Calls with the hop behind a callback's context, which is not counted for that: the loop holds its transfer.
    private static func with<Value>(_ context: UnsafeMutableRawPointer?, _ body: (Hop) -> Value) -> Value {
        guard let context else { preconditionFailure("libcurl called back without its context") }
        return Unmanaged<Hop>.fromOpaque(context)._withUnsafeGuaranteedRef(body)
    }

    private func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Int32 {
        isConnected = false
        if let refusal = guardsRefusal(of: address) {
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
        connecting.resolvesSince = nil
        openedSockets.append(socket)
        loop.openedSocket(socket, mayHoldUp: mayMultiplex)
        return socket
    }

    /// A connection is ready and the message is about to go out on it; false stops it.
    private func willSend(on key: Connections.Key) -> Bool {
        isConnected = true
        isReadingProxyHead = false
        sends += 1
        if sends > 1 { sentBefore = Int64(easy.long(CURLINFO_REQUEST_SIZE)) }
        lastActivity = loop.now
        connecting = Connecting()
        renewSpeed()
        guard sends == 1 || (sends == 2 && request.mayBeSentTwice) else {
            isSentAway = request.mayBeSentTwice && transfer.mayResend
            if !isSentAway { failure = .notSentAgain(request) }
            return false
        }
        connection?.end(at: loop.poller.looks)
        connection = nil
        let connects = easy.long(CURLINFO_NUM_CONNECTS)
        defer { knownConnects = connects }
        if connects > knownConnects {
            // One of several addresses that were tried may have had no socket; another had.
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
        if upload != nil { uploadTimes = (EventLoop.clock(), 0, 0) }
        if site.isSecure {
            session = connection?.session ?? loop.tlsSession.details(of: easy)
            connection?.session = session
            if connects > 0, let tls = TLSSession.watchEnd(of: easy) { loop.connections.note(tls, of: connection) }
        }
        return true
    }

    /// Bytes that went out. libcurl tells of them as long as it talks of everything, which costs more than it does.
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
            case .notYet:
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

    /// libcurl wants the body again, because the connection died before it answered.
    private func seek(to offset: curl_off_t, from origin: Int32) -> Int32 {
        guard offset == 0, origin == SEEK_SET, request.mayBeSentTwice, let upload, upload.rewind() else {
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
            case .complete(let response): try begin(response)
            }
            // Else libcurl would send the message again by itself, or wait for a body that is not wanted.
            return isExpectationRefused || isCutShort ? 0 : line.count
        } catch {
            failure = error
            return 0
        }
    }

    /// Takes a line of the answer to CONNECT, for libcurl to read. It would let a NUL pass, which it refuses in any other head.
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
        if upload != nil { uploadTimes.answer = EventLoop.clock() }
        lastActivity = loop.now
        renewSpeed()
        // Else the end of the wait for the answer, which is looked at already, comes first.
        if let idle = timeouts.idle, timeouts.firstByte.map({ idle < $0 }) ?? true { loop.watchDeadline(of: transfer) }
        if connection != nil {
            let version = easy.long(CURLINFO_HTTP_VERSION)
            let isMultiplexed = version >= Int(CURL_HTTP_VERSION_2_0)
            connection?.isMultiplexed = isMultiplexed
            connection?.speaksHTTP3 = version == Int(CURL_HTTP_VERSION_3)
            if mayMultiplex {
                noteVersion(isMultiplexed: isMultiplexed)
                if let place = transfer.place { loop.learn(place, isMultiplexed: isMultiplexed) }
            }
        }
        if response.status.code == 417, Self.asksConsent(message.request) {
            if expectsConsent {
                isExpectationRefused = true
                return
            }
            // libcurl would send the message again, with what is left of its body; over HTTP/2 it asks nobody.
            guard isUploaded || connection?.isMultiplexed == true else { throw .unasked(response.head) }
        }
        if let memory = loop.memory { memory.take(response, to: message.request) }
        if alternative != nil { noteFallback() }
        // A server that gave up waiting on an idle connection says 408 to a message it has not seen.
        if response.status == .requestTimeout, sends == 1, easy.long(CURLINFO_NUM_CONNECTS) == 0,
            request.mayBeSentTwice, transfer.mayResend
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

    /// Gives up the body of a response whose head says all. The connection is kept if the body ends soon.
    private func discardBody() {
        sink = .discard
        isCutShort = announcedLength.map { $0 > Self.discardLimit } ?? endsWithConnection
        guard !isCutShort, announcedLength != 0 || !isUploaded else { return }
        discardEnd = loop.now.advanced(by: Self.discardTime)
        loop.watchDeadline(of: transfer)
    }

    private func beginBody(of response: RawHead) throws(NetworkError) {
        if decodes, response.isEncoded, let encoding = response.head.headerFields[.contentEncoding] {
            decoder = try ContentDecoder(contentEncoding: encoding)
        }
        let length = announcedLength.map(Int.init)
        if let limit = request.options.maxBodyBytes, let length, length > limit, decoder == nil {
            throw .bodyTooLarge(limit)
        }
        switch request.delivery {
        case .stream:
            if length == nil, response.isEventStream { loop.noteLasting(transfer) }
            let pipe = transfer.makePipe()
            sink = .pipe(pipe)
            transfer.deliverHead(response, from: self, body: pipe)
        case .file(let path) where response.status.kind == .successful:
            sink = .file(try FileSink(path: path, mayWait: false))
        case .collect, .file:
            sink = .collect
            if let length { try collected.reserve(length) }
        }
        watchRefusal()
    }

    private func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        if isDropped { return 0 }
        if isReaderBehind || isAheadOfPace { return pause() }
        lastActivity = loop.now
        pace?.take(bytes.count, at: loop.now)
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

    /// What the server says with an answer that is whole before the message is: it may take no more.
    private func watchRefusal() {
        if !isUploaded, settledBy != nil { loop.watchDeadline(of: transfer) }
    }

    private var isReaderBehind: Bool {
        if case .pipe(let pipe) = sink { return pipe.isFull() }
        return false
    }

    /// What tells libcurl to keep the bytes of this call; it gives them again after the pause.
    private func pause() -> Int {
        isReceivePaused = true
        if pace != nil { loop.watchDeadline(of: transfer) }
        return Int(CURL_WRITEFUNC_PAUSE)
    }

    /// Decodes as much as the reader keeps up with; false where that is not all. After the pause the bytes come again,
    /// however they are cut then, and those that have been used are passed over.
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

    // MARK: what the loop asks

    /// Goes on after a pause, when its reader has room, its pace allows more or its writer has bytes.
    ///
    /// - Returns: why a callback of libcurl ended the hop meanwhile.
    func resume() -> NetworkError? {
        let wasPaused = (isReceivePaused, isSendPaused)
        isReceivePaused = isReceivePaused && (isReaderBehind || isAheadOfPace)
        isSendPaused = false
        guard wasPaused != (isReceivePaused, isSendPaused) else { return nil }
        lastActivity = loop.now
        renewSpeed()
        curl_easy_pause(easy.pointer, isReceivePaused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
        return failure
    }

    /// Has libcurl let go of what it keeps of the body during a pause, before the hop is taken out of the multi: libcurl
    /// 7.88 does not where the connection still has other users (`multi_done` returns before it frees `tempwrite`). Where
    /// it has ended the hop itself, as when an upload fails meanwhile, there is nothing left to call.
    func dropPaused() {
        guard isReceivePaused else { return }
        isDropped = true
        curl_easy_pause(easy.pointer, CURLPAUSE_CONT)
    }

    /// Checks that head and body are whole, after libcurl said that all went well.
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
        if !isDiscarding, connection?.hasLostPeer == true, endsWithConnection { throw .cutOff }
        if case .file(let file) = sink { try file.commit() }
        return collected.take()
    }

    /// The fields behind the body.
    func trailers() throws(NetworkError) -> HTTPFields {
        try head.trailers()
    }

    /// Gives up a body that did not come to its end, and gives what is there of it in memory.
    func abandon() -> Data {
        sink = .none
        return collected.take()
    }

    /// How far the hop is.
    var phase: NetworkError.Phase {
        if response != nil { return .body }
        if sends > 0 { return isUploaded ? .firstByte : .send }
        if easy.offset(CURLINFO_NAMELOOKUP_TIME_T) == 0 { return .resolve }
        // libcurl notes a connection's time after the handshake, and libcurl 8 its ports too.
        let isConnected = easy.offset(CURLINFO_CONNECT_TIME_T) > 0 || openedSockets.contains(where: loop.isConnected)
        return isConnected && site.isSecure && !isBeforeTunnel ? .tls : .connect
    }

    /// The length of the encoded body that comes, where it is known (RFC 9112, 6.3).
    var announcedLength: Int64? {
        guard let response else { return nil }
        let hasNone = message.method == .head || response.status.code == 204 || response.status.code == 304
        return hasNone ? 0 : response.contentLength
    }

    /// When the hop is over although libcurl goes on; `nil` if it isn't.
    var settledBy: UInt64? {
        if let discardEnd { return discardEnd }
        // During a pause the decoder may hold more of the body than its reader has room for.
        guard !isUploaded, !isSendPaused, !isReceivePaused, response != nil, announcedLength == bytesReceived
        else { return nil }
        return lastActivity.advanced(by: Self.refusalTime)
    }

    /// Whether all of the answer has come although the server does not take the rest of the message: it may say so by
    /// the end of the stream or connection, which is no reason to discard the answer (RFC 9113, 8.1).
    func isAnsweredEarly(_ code: CURLcode) -> Bool {
        guard !isUploaded, response != nil else { return false }
        if let length = announcedLength { return length == bytesReceived }
        // libcurl has no words for the end of a stream that it has seen as a clean one before.
        return code == CURLE_HTTP2_STREAM && easy.fields.errorText.pointee == 0
    }

    /// Whether only the end of the connection tells that the body has ended (RFC 9112, 6.3).
    private var endsWithConnection: Bool {
        guard let response, announcedLength == nil, connection?.isMultiplexed != true else { return false }
        return !response.head.headerFields.contains(.transferEncoding)
    }

    /// Bytes of all heads that came, and of trailers.
    var headBytesReceived: Int { head.bytes }

    /// Bytes of the message's head, as they were sent last.
    var headBytesSent: Int64 {
        let sent = Int64(easy.long(CURLINFO_REQUEST_SIZE)) - sentBefore
        return Self.countsBodies ? max(0, sent - easy.offset(CURLINFO_SIZE_UPLOAD_T)) : sent
    }

    /// Whether this libcurl's CURLINFO_REQUEST_SIZE has the body in it: not that of 7.88, and that of 8.14.
    private static let countsBodies: Bool = {
        guard let version = curl_version_info(CURLVERSION_FIRST) else { return false }
        // In which sending was written anew.
        return version.pointee.version_num >= 0x08_07_00
    }()

    /// When the request had been sent and when its answer came, with `start` as when it was about to be sent; zero
    /// where it did not come to that. libcurl's own mark of the answer is that of the body sent, where there is one.
    func marks(from start: Duration, firstByte: Duration) -> (requestEnd: Duration, firstByte: Duration) {
        guard upload != nil else { return (sends > 0 ? start : .zero, firstByte) }
        func mark(_ time: UInt64) -> Duration {
            time == 0 ? .zero : start + .nanoseconds(Int64(time - uploadTimes.begin))
        }
        return (isUploaded && uploadTimes.end == 0 ? start : mark(uploadTimes.end), mark(uploadTimes.answer))
    }

    /// TLS and the head as it was sent; nil where there is nothing of either.
    var details: TransferMetrics.Details? {
        guard let head = sentHead?.head else { return session }
        return TransferMetrics.Details(
            tlsVersion: session?.tlsVersion ?? "",
            tlsCipher: session?.tlsCipher ?? "",
            requestHead: head
        )
    }

    /// What libcurl's verdict means.
    func error(_ code: CURLcode, during phase: NetworkError.Phase? = nil) -> NetworkError {
        // What libcurl says to a field of it that it cannot store, as one with a NUL or without a colon.
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

    var progress: TransferProgress {
        TransferProgress(
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

    /// The server refuses to be asked, and what was begun of the body cannot begin again.
    fileprivate static func unasked(_ response: HTTPResponse) -> NetworkError {
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
        let isBodyGone = request.repetition.allows(request.head) && request.body?.isReplayable == false
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

    /// A TLS connection that ended without saying so may have been cut by anybody (RFC 8446, 6.1).
    fileprivate static var cutOff: NetworkError {
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
