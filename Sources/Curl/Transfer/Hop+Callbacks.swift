import BeagleNetHTTP
import CBeagleNetCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The callbacks of libcurl.
extension Hop {
    /// Sets the callbacks and their contexts.
    func configureCallbacks() throws(NetworkError) {
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
        let timeouts = request.options.timeouts
        if timeouts.resolve != nil { watchResolving() }
        if timeouts.tls != nil, origin.isSecure { try watchHandshake() }
    }

    private func watchResolving() {
        easy.set(.resolveContext, Unmanaged.passUnretained(self).toOpaque())
        beagle_easy_set_resolve_callback(easy.pointer) { _, _, context in
            let hop = Hop.from(context)
            hop.timing.resolveStart = hop.loop.now
            hop.loop.watchDeadline(of: hop.transfer)
            return 0
        }
    }

    /// Notes the start of the handshake: libcurl creates its TLS context once the connection is open.
    private func watchHandshake() throws(NetworkError) {
        easy.set(.handshakeContext, Unmanaged.passUnretained(self).toOpaque())
        let code = beagle_easy_set_handshake_callback(easy.pointer) { _, _, context in
            let hop = Hop.from(context)
            hop.timing.handshakeStart = hop.loop.now
            hop.loop.watchDeadline(of: hop.transfer)
            return CURLE_OK
        }
        guard code == CURLE_OK else {
            throw .unsent(
                .unsupported,
                "Timeouts.tls: \(String(cString: curl_version())) does not report when a handshake begins",
                "use Timeouts.connect instead, or use a libcurl with OpenSSL"
            )
        }
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
        timing.resolveStart = nil
        wire.sockets.append(loop.openedSocket(socket, mayHang: mayMultiplex))
        return socket
    }

    /// Notes that a connection is ready and the request is about to be sent on it. Returns false to stop it.
    private func willSend(on key: Connections.Key) -> Bool {
        receiver.didConnect()
        attempts.count += 1
        if attempts.count > 1 { attempts.bytesBefore = Int64(easy.long(CURLINFO_REQUEST_SIZE)) }
        timing.didConnect(at: loop.now)
        restartSpeedWindow()
        guard attempts.count == 1 || (attempts.count == 2 && request.canBeResent) else {
            // libcurl 8 would go on to try connections in use.
            if request.canBeResent, transfer.mayResend { route = .resend } else { failure = .notSentAgain(request) }
            return false
        }
        connection?.end(at: loop.poller.pollCount)
        wire.connection = nil
        let connects = easy.long(CURLINFO_NUM_CONNECTS)
        defer { attempts.connects = connects }
        if connects > attempts.connects {
            // If the host has several addresses, creating a socket may have failed for one and succeeded for another.
            failure = nil
            loop.forgetLost(wire.sockets)
            wire.connection = loop.connections.add(key, wire.sockets.map(\.number), to: easy.remoteAddress)
            noteTunnel(connection)
        } else {
            let pooled = loop.connections[key]
            if pooled?.shutIfStale(after: loop.poller) == true {
                // It was dead or held unsolicited bytes, so nothing is sent on it.
                attempts.count -= 1
                route = .resend
                return false
            }
            wire.connection = pooled
        }
        connection?.begin()
        if let sentHead {
            sentHead.begin()
            easy.set(.verbose, 1)
        }
        sender.willSend()
        if origin.isSecure {
            wire.session = connection?.session ?? loop.tlsSession.details(of: easy)
            connection?.session = wire.session
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
        (timing.lastActivity, timing.lastSent) = (loop.now, loop.now)
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
}

extension NetworkError {
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
