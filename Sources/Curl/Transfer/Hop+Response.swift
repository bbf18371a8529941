import BeagleNetHTTP
import CBeagleNetCurl

/// The response of a hop, and the decision about the step after it.
extension Hop {
    /// The longest wait for the end of a discarded body, about as long as opening another connection takes.
    private static let discardTime = Duration.milliseconds(250)

    /// Receives a line of a head.
    ///
    /// - Returns: The number of bytes taken, as libcurl expects.
    func receiveHead(_ line: UnsafeRawBufferPointer) -> Int {
        if receiver.takes(line) { return line.count }
        do throws(NetworkError) {
            switch try receiver.feed(line) {
            case .more: break
            case .interim(let response):
                request.options.extras?.onInterim?.function(response)
                request.onHead?(response, request.head)
            case .complete(let response): try begin(response)
            case nil: throw CurlFailure.malformedProxyHead(request.options)
            }
            // Otherwise libcurl would resend the request itself, or wait for a body that is discarded.
            return receiver.stopsReadingBody ? 0 : line.count
        } catch {
            failure = error
            return 0
        }
    }

    private func begin(_ response: RawHead) throws(NetworkError) {
        let message = message
        let timeouts = message.request.options.timeouts
        sender.didReceiveHead()
        timing.lastActivity = loop.now
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
        if response.status.code == 417, message.request.sendsExpectContinue {
            if canRetryWithoutExpect {
                route = .withoutExpect
                receiver.discardBody(isMultiplexed: isMultiplexed)
                return receiver.stopReading()
            }
            // libcurl would resend the request with only the rest of its body. Over HTTP/2 it doesn't wait for consent.
            guard sender.isFinished || connection?.isMultiplexed == true else {
                throw .expectationFailed(response.head)
            }
        }
        if let memory = loop.memory { memory.take(response, to: message.request) }
        if alternative != nil { noteFallback() }
        // A server that times out an idle connection may answer 408 to a request that it hasn't seen.
        if response.status == .requestTimeout, attempts.count == 1, easy.long(CURLINFO_NUM_CONNECTS) == 0,
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

    /// Discards the body of a response whose head alone decides the next step.
    private func discardBody() {
        receiver.discardBody(isMultiplexed: isMultiplexed)
        guard !receiver.stopsReadingBody, receiver.announcedLength != 0 || !sender.isFinished else { return }
        timing.discardDeadline = loop.now.advanced(by: Self.discardTime)
        loop.watchDeadline(of: transfer)
    }

    private func beginBody(of response: RawHead) throws(NetworkError) {
        if let observe = request.onHead { observe(response.head, request.head) }
        try receiver.prepareBody()
        switch request.delivery {
        case .stream:
            if receiver.announcedLength == nil, response.isEventStream { loop.noteLongLived(transfer) }
            let pipe = transfer.makePipe()
            try receiver.write(to: .pipe(pipe))
            transfer.deliverHead(response, from: self, body: pipe)
        case .file(let path) where response.status.kind == .successful:
            try receiver.write(to: .file(FileSink(path: path, mayBlock: false)))
        case .collect, .file: try receiver.write(to: .collect)
        }
        watchRefusal()
    }

    /// Receives bytes of the body.
    ///
    /// - Returns: The number of bytes taken, as libcurl expects.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        if receiver.stopsReadingBody { return 0 }
        if receiver.isReaderBehind || isRateLimited { return pause() }
        timing.lastActivity = loop.now
        rateLimiter?.take(bytes.count, at: loop.now)
        if request.onProgress != nil { loop.noteProgress(transfer) }
        do throws(NetworkError) {
            defer { if let pipe = receiver.pipe { loop.noteWritten(pipe) } }
            let usedAll = try receiver.receive(bytes)
            guard usedAll else { return pause() }
            watchRefusal()
            return bytes.count
        } catch {
            failure = error
            return 0
        }
    }

    /// Schedules a check if the response is complete before the request is: the server may not read the rest.
    private func watchRefusal() {
        if !sender.isFinished, completionDeadline != nil { loop.watchDeadline(of: transfer) }
    }

    /// Returns the value that tells libcurl to retain the bytes of this call. libcurl passes them again after the
    /// pause.
    private func pause() -> Int {
        isReceivePaused = true
        if rateLimiter != nil { loop.watchDeadline(of: transfer) }
        return Int(CURL_WRITEFUNC_PAUSE)
    }
}

extension NetworkError {
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
}
