import BeagleNetHTTP

/// The sender of one hop's request body, with the times at which the request was sent.
struct BodySender {
    /// The source of the body's bytes; `nil` if there is no body.
    let source: (any UploadSource)?
    /// Whether nothing of the body is left to be passed to libcurl.
    private(set) var isFinished: Bool
    /// The number of bytes passed to libcurl in the current attempt.
    private(set) var bytesSent: Int64 = 0
    /// The number of bytes that libcurl took last.
    private(set) var lastCount = 0
    /// Whether libcurl has asked for bytes of the body; a streamed body has been opened then.
    private(set) var hasBegun = false
    /// Whether libcurl waits because the body has no bytes yet.
    var isPaused = false
    /// The times at which libcurl took the request, was about to send it, had read the last of its body, and the
    /// response began. Set only if the request has a body.
    private var times: (start: UInt64, begin: UInt64, end: UInt64, firstByte: UInt64) = (0, 0, 0, 0)

    /// Creates the sender of a body.
    init(_ source: (any UploadSource)?) {
        self.source = source
        isFinished = source == nil || source?.length == 0
    }

    /// Notes that libcurl is about to take the request.
    mutating func willStart() {
        if source != nil { times.start = EventLoop.clock() }
    }

    /// Notes that the request is about to be sent, perhaps once more.
    mutating func willSend() {
        if source != nil { times = (times.start, EventLoop.clock(), 0, 0) }
    }

    /// Notes that the response has begun.
    mutating func didReceiveHead() {
        if source != nil { times.firstByte = EventLoop.clock() }
    }

    /// Reads the next bytes of the body into a buffer.
    ///
    /// - Returns: The number of bytes, 0 at the end of the body, or `nil` if there are no bytes yet.
    mutating func send(into buffer: UnsafeMutableRawBufferPointer) throws(NetworkError) -> Int? {
        guard let source else { return 0 }
        hasBegun = true
        switch try source.read(into: buffer) {
        case .bytes(let count):
            bytesSent += Int64(count)
            lastCount = count
            if bytesSent == source.length { finish() }
            return count
        case .pending:
            isPaused = true
            return nil
        case .end:
            finish()
            return 0
        }
    }

    private mutating func finish() {
        guard !isFinished else { return }
        isFinished = true
        times.end = EventLoop.clock()
    }

    /// Rewinds the body so that it can be sent again.
    ///
    /// - Returns: Whether the body can be replayed.
    mutating func rewind() -> Bool {
        guard let source, source.rewind() else { return false }
        isFinished = source.length == 0
        bytesSent = 0
        return true
    }

    /// Sets the times at which the request was about to be sent, had been sent, and the response began. A time is zero
    /// if the hop didn't get that far.
    ///
    /// With a body, our own marks are used: libcurl's time of the first byte is that of the sent body, and its start is
    /// the time at which the first part of the body had been sent.
    func setMarks(of metrics: inout TransferMetrics, start: Duration, firstByte: Duration, wasSent: Bool) {
        guard source != nil else {
            metrics.requestStart = start
            metrics.requestEnd = wasSent ? start : .zero
            metrics.firstByte = firstByte
            return
        }
        func mark(_ time: UInt64) -> Duration {
            time == 0 ? .zero : .nanoseconds(Int64(time - times.start))
        }
        metrics.requestStart = mark(times.begin)
        metrics.requestEnd = isFinished && times.end == 0 ? metrics.requestStart : mark(times.end)
        metrics.firstByte = mark(times.firstByte)
    }
}
