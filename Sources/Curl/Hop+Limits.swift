import BeagleNetHTTP
import CBeagleNetCurl

/// How long a hop may take, how fast it may go and how slow, and whether it asks before it sends a body.
extension Hop {
    /// Which parts of connecting have begun and not ended, and when they did.
    struct Connecting {
        var resolvesSince: UInt64?
        var shakesHandsSince: UInt64?
    }

    /// What has moved since when, for `MinimumSpeed`.
    struct SpeedWatch {
        let minimum: MinimumSpeed
        var since: UInt64 = 0
        var bytes: Int64 = 0
    }

    /// Holds a body back that comes faster than it may. libcurl's own limit lets a hundred reads through before it looks.
    struct ReceivePace {
        /// The lateness that is made up for, in nanoseconds: the loop wakes a little after it is due.
        private static let slack: UInt64 = 100_000_000

        let bytesPerSecond: Int
        /// When the bytes so far are in time.
        private(set) var due: UInt64 = 0

        init(bytesPerSecond: Int) {
            self.bytesPerSecond = bytesPerSecond
        }

        /// Bytes have come.
        mutating func take(_ count: Int, at now: UInt64) {
            let cost = Double(count) * 1e9 / Double(bytesPerSecond)
            due = (due == 0 ? now : max(due, now - min(now, Self.slack))) &+ UInt64(min(cost, 1e18))
        }
    }

    // MARK: what libcurl is told

    func configureLimits() throws(NetworkError) {
        let timeouts = request.options.timeouts
        // Without a value libcurl has a limit of its own.
        easy.set(.connectTimeout, Int(min(connectLimit?.milliseconds ?? .max, Int64(Int32.max))))
        if timeouts.resolve != nil { watchResolving() }
        if timeouts.tls != nil, site.isSecure { try watchHandshake() }
        let extras = request.options.extras
        let isLimited = extras.map { $0.bandwidth != Bandwidth() } ?? false
        if isLimited || request.options.priority == .prefetch { limitBandwidth() }
        guard let extras else { return }
        speed = extras.minimumSpeed.map { SpeedWatch(minimum: $0) }
        if expectsConsent { easy.set(.expectTimeout, Int(extras.expect.patience.milliseconds)) }
    }

    private func limitBandwidth() {
        if let send = request.options.bandwidth.send { easy.set(.sendRate, Int64(send)) }
        guard let receive = receiveLimit else { return }
        pace = ReceivePace(bytesPerSecond: receive)
        // No more at once than a second's worth, as far as libcurl lets its buffer shrink.
        easy.set(.bufferSize, max(1 << 10, min(16 << 10, receive)))
    }

    /// Bytes of the body that may come in a second; `nil` if any number.
    private var receiveLimit: Int? {
        let prefetch = transfer.request.options.priority == .prefetch ? loop.prefetchBytesPerSecond : nil
        return [request.options.bandwidth.receive, prefetch].compactMap(\.self).min()
    }

    /// Whether the body has come faster than it may.
    var isAheadOfPace: Bool { pace.map { $0.due > loop.now } ?? false }

    /// When a body that was held back goes on; `nil` if its pace doesn't hold it back.
    var paceEnd: UInt64? { isReceivePaused ? pace?.due : nil }

    /// Goes on at once with the limit that holds now.
    ///
    /// - Returns: why a callback of libcurl ended the hop meanwhile.
    func goFaster() -> NetworkError? {
        pace = receiveLimit.map { ReceivePace(bytesPerSecond: $0) }
        return resume()
    }

    private func watchResolving() {
        easy.set(.resolveContext, Unmanaged.passUnretained(self).toOpaque())
        beagle_easy_set_resolve_callback(easy.pointer) { _, _, context in
            let hop = Hop.from(context)
            hop.connecting.resolvesSince = hop.loop.now
            hop.loop.watchDeadline(of: hop.transfer)
            return 0
        }
    }

    /// libcurl makes its TLS context when the connection stands.
    private func watchHandshake() throws(NetworkError) {
        easy.set(.handshakeContext, Unmanaged.passUnretained(self).toOpaque())
        let code = beagle_easy_set_handshake_callback(easy.pointer) { _, _, context in
            let hop = Hop.from(context)
            hop.connecting.shakesHandsSince = hop.loop.now
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

    // MARK: consent to a body

    /// Whether the server is asked before the body is sent.
    static func asksConsent(_ request: TransferRequest) -> Bool {
        guard let body = request.body, let threshold = request.options.extras?.expect.threshold else { return false }
        return body.length.map { Int64($0) >= threshold } ?? true
    }

    /// Whether a server that refuses to consent can be sent the message without being asked.
    var expectsConsent: Bool {
        Self.asksConsent(request) && (!hasBegunBody || request.body?.isReplayable == true)
    }

    // MARK: deadlines

    /// A time limit that the hop is subject to now.
    private struct Limit {
        let end: UInt64
        let what: String
        let name: String
    }

    /// When the hop runs out of time if nothing happens; nil where it may wait for ever.
    var deadline: UInt64? {
        if let settledBy { return settledBy }
        if isAheadOfPace, let paceEnd { return paceEnd }
        let timeouts = request.options.timeouts
        guard !isReceivePaused, !isSendPaused else { return nil }
        guard sends > 0 else { return connectingLimit?.end }
        let silence = (response == nil ? timeouts.firstByte : timeouts.idle).map { lastActivity.advanced(by: $0) }
        guard let slowness = speedEnd else { return silence }
        return min(silence ?? .max, slowness)
    }

    /// When `deadline` is to be asked for again while the hop is not yet, or not now, subject to one.
    func earliestDeadline(at now: UInt64) -> UInt64? {
        let timeouts = request.options.timeouts
        guard let firstByte = timeouts.firstByte, let idle = timeouts.idle else {
            return (timeouts.firstByte ?? timeouts.idle ?? speed?.minimum.window).map { now.advanced(by: $0) }
        }
        return now.advanced(by: min(firstByte, idle))
    }

    /// The error for a deadline that has passed.
    func timeout(at now: UInt64) -> NetworkError {
        let timeouts = request.options.timeouts
        let phase = phase
        if sends == 0, let limit = connectingLimit {
            return .timeout(during: phase, limit.what, limit.name)
        }
        if let speed, let end = speedEnd, end <= now {
            let minimum = speed.minimum
            let what = "the transfer was slower than \(minimum.bytesPerSecond) bytes per second for \(minimum.window)"
            return .timeout(
                during: phase,
                what,
                advice: "decrease TransferOptions.minimumSpeed, increase its window, or check the server"
            )
        }
        if phase == .body {
            return .timeout(
                during: phase,
                "no more body data was received for \(timeouts.idle ?? .zero)",
                "Timeouts.idle"
            )
        }
        let what = "the response head was not received within \(timeouts.firstByte ?? .zero)"
        return .timeout(during: phase, what, "Timeouts.firstByte")
    }

    private var connectingLimit: Limit? {
        let timeouts = request.options.timeouts
        if resolving != nil, let limit = [timeouts.resolve, connectLimit].compactMap(\.self).min() {
            return Limit(
                end: lastActivity.advanced(by: limit),
                what: "the app's resolver did not return within \(limit)",
                name: limit == timeouts.resolve ? "Timeouts.resolve" : "Timeouts.connect"
            )
        }
        if let since = connecting.resolvesSince, let limit = timeouts.resolve {
            return Limit(
                end: since.advanced(by: limit),
                what: "the host name was not resolved within \(limit)",
                name: "Timeouts.resolve"
            )
        }
        if let since = connecting.shakesHandsSince, let limit = timeouts.tls {
            return Limit(
                end: since.advanced(by: limit),
                what: "the TLS handshake took longer than \(limit)",
                name: "Timeouts.tls"
            )
        }
        return nil
    }

    // MARK: minimum speed

    private var isBodyMoving: Bool { response != nil || (sends > 0 && !isUploaded) }

    private var speedEnd: UInt64? {
        guard let speed, isBodyMoving else { return nil }
        return speed.since.advanced(by: speed.minimum.window)
    }

    /// A window of the minimum speed begins.
    func renewSpeed() {
        guard var speed else { return }
        speed.since = loop.now
        speed.bytes = bytesSent + bytesReceived
        self.speed = speed
        loop.watchDeadline(of: transfer)
    }

    /// Begins another window where the last one has passed and enough has moved in it.
    func judgeSpeed(at now: UInt64) {
        guard let speed, let end = speedEnd, end <= now else { return }
        let moved = bytesSent + bytesReceived - speed.bytes
        let seconds = Double(now - speed.since) / 1e9
        if Double(moved) >= Double(speed.minimum.bytesPerSecond) * seconds { renewSpeed() }
    }
}

extension NetworkError {
    /// A time limit that passed.
    static func timeout(during phase: Phase, _ what: String, _ name: String) -> NetworkError {
        timeout(during: phase, what, advice: "increase \(name), or check the server")
    }

    /// A time limit that passed, with its own advice.
    fileprivate static func timeout(during phase: Phase, _ what: String, advice: String) -> NetworkError {
        var error = NetworkError(.timeout, during: phase, what, advice: advice)
        error.transportCode = Int(CURLE_OPERATION_TIMEDOUT.rawValue)
        return error
    }
}
