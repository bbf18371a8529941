import BeagleNetHTTP
import CBeagleNetCurl

/// The timeouts, rate limits and `Expect: 100-continue` handling of a hop.
extension Hop {
    /// The phases of connecting that are in progress, with their start times.
    struct Connecting {
        var resolveStart: UInt64?
        var handshakeStart: UInt64?
    }

    /// The bytes transferred since the start of the current window, for `TransferOptions.MinimumSpeed`.
    struct SpeedWindow {
        let minimum: TransferOptions.MinimumSpeed
        var since: UInt64 = 0
        var bytes: Int64 = 0
    }

    /// A limit on the receive rate of a body. libcurl's own limit allows a hundred reads before it takes effect.
    struct ReceiveRateLimiter {
        /// The lateness that is made up for, in nanoseconds, because the loop wakes slightly late.
        private static let slack: UInt64 = 100_000_000

        let bytesPerSecond: Int
        /// The time at which the bytes so far are on schedule.
        private(set) var due: UInt64 = 0

        init(bytesPerSecond: Int) {
            self.bytesPerSecond = bytesPerSecond
        }

        /// Accounts for received bytes.
        mutating func take(_ count: Int, at now: UInt64) {
            let cost = Double(count) * 1e9 / Double(bytesPerSecond)
            due = (due == 0 ? now : max(due, now - min(now, Self.slack))) &+ UInt64(min(cost, 1e18))
        }
    }

    // MARK: libcurl options

    func configureLimits() throws(NetworkError) {
        let timeouts = request.options.timeouts
        // Without a value, libcurl uses its own default.
        easy.set(.connectTimeout, Int(min(connectLimit?.milliseconds ?? .max, Int64(Int32.max))))
        if timeouts.resolve != nil { watchResolving() }
        if timeouts.tls != nil, origin.isSecure { try watchHandshake() }
        let extras = request.options.extras
        let isLimited = extras.map { $0.bandwidth != TransferOptions.Bandwidth() } ?? false
        if isLimited || request.options.priority == .prefetch { limitBandwidth() }
        guard let extras else { return }
        speed = extras.minimumSpeed.map { SpeedWindow(minimum: $0) }
        if canRetryWithoutExpect { easy.set(.expectTimeout, Int(extras.expect.timeout.milliseconds)) }
    }

    private func limitBandwidth() {
        if let send = request.options.bandwidth.send { easy.set(.sendRate, Int64(send)) }
        guard let receive = receiveLimit else { return }
        rateLimiter = ReceiveRateLimiter(bytesPerSecond: receive)
        // At most one second's worth at a time, as far as libcurl's minimum buffer size allows.
        easy.set(.bufferSize, max(1 << 10, min(16 << 10, receive)))
    }

    /// The limit on the receive rate, in bytes per second; `nil` for no limit.
    private var receiveLimit: Int? {
        let prefetch = transfer.request.options.priority == .prefetch ? loop.prefetchBytesPerSecond : nil
        return [request.options.bandwidth.receive, prefetch].compactMap(\.self).min()
    }

    /// Whether the body has arrived faster than allowed.
    var isRateLimited: Bool { rateLimiter.map { $0.due > loop.now } ?? false }

    /// The time at which a throttled body resumes; `nil` if it isn't throttled.
    var rateLimitEnd: UInt64? { isReceivePaused ? rateLimiter?.due : nil }

    /// Resumes immediately with the current limit.
    ///
    /// - Returns: The error with which a callback of libcurl ended the hop in the meantime.
    func updateReceiveRate() -> NetworkError? {
        rateLimiter = receiveLimit.map { ReceiveRateLimiter(bytesPerSecond: $0) }
        return resume()
    }

    private func watchResolving() {
        easy.set(.resolveContext, Unmanaged.passUnretained(self).toOpaque())
        beagle_easy_set_resolve_callback(easy.pointer) { _, _, context in
            let hop = Hop.from(context)
            hop.connecting.resolveStart = hop.loop.now
            hop.loop.watchDeadline(of: hop.transfer)
            return 0
        }
    }

    /// Notes the start of the handshake: libcurl creates its TLS context once the connection is open.
    private func watchHandshake() throws(NetworkError) {
        easy.set(.handshakeContext, Unmanaged.passUnretained(self).toOpaque())
        let code = beagle_easy_set_handshake_callback(easy.pointer) { _, _, context in
            let hop = Hop.from(context)
            hop.connecting.handshakeStart = hop.loop.now
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

    // MARK: Expect: 100-continue

    /// Returns whether the request is sent with `Expect: 100-continue`.
    static func sendsExpectContinue(_ request: TransferRequest) -> Bool {
        guard let body = request.body, let threshold = request.options.extras?.expect.threshold else { return false }
        return body.length.map { Int64($0) >= threshold } ?? true
    }

    /// Whether the request can be resent without `Expect` if the server refuses it.
    var canRetryWithoutExpect: Bool {
        Self.sendsExpectContinue(request) && (!sender.hasBegun || request.body?.isReplayable == true)
    }

    // MARK: deadlines

    /// A time limit that currently applies to the hop.
    private struct Limit {
        let end: UInt64
        let what: String
        let name: String
    }

    /// The time at which the hop times out if nothing happens; `nil` if there is no limit.
    var deadline: UInt64? {
        if let completionDeadline { return completionDeadline }
        if isRateLimited, let rateLimitEnd { return rateLimitEnd }
        let timeouts = request.options.timeouts
        guard !isReceivePaused, !sender.isPaused else { return nil }
        guard sendAttempts > 0 else { return connectingLimit?.end }
        let limit = receiver.response == nil ? timeouts.firstByte : timeouts.idle
        let silence = limit.map { lastActivity.advanced(by: $0) }
        guard let slowness = speedEnd else { return silence }
        return min(silence ?? .max, slowness)
    }

    /// Returns the time at which to check `deadline` again while no deadline applies to the hop.
    func earliestDeadline(at now: UInt64) -> UInt64? {
        let timeouts = request.options.timeouts
        guard let firstByte = timeouts.firstByte, let idle = timeouts.idle else {
            return (timeouts.firstByte ?? timeouts.idle ?? speed?.minimum.window).map { now.advanced(by: $0) }
        }
        return now.advanced(by: min(firstByte, idle))
    }

    /// Returns the error for a deadline that has passed.
    func timeout(at now: UInt64) -> NetworkError {
        let timeouts = request.options.timeouts
        let phase = phase
        if sendAttempts == 0, let limit = connectingLimit {
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
        if let since = connecting.resolveStart, let limit = timeouts.resolve {
            return Limit(
                end: since.advanced(by: limit),
                what: "the host name was not resolved within \(limit)",
                name: "Timeouts.resolve"
            )
        }
        if let since = connecting.handshakeStart, let limit = timeouts.tls {
            return Limit(
                end: since.advanced(by: limit),
                what: "the TLS handshake took longer than \(limit)",
                name: "Timeouts.tls"
            )
        }
        return nil
    }

    // MARK: minimum speed

    private var isBodyMoving: Bool { receiver.response != nil || (sendAttempts > 0 && !sender.isFinished) }

    private var speedEnd: UInt64? {
        guard let speed, isBodyMoving else { return nil }
        return speed.since.advanced(by: speed.minimum.window)
    }

    /// Starts a new window for the minimum speed.
    func restartSpeedWindow() {
        guard var speed else { return }
        speed.since = loop.now
        speed.bytes = sender.bytesSent + receiver.bytesReceived
        self.speed = speed
        loop.watchDeadline(of: transfer)
    }

    /// Starts a new window if the last one has passed and enough bytes were transferred in it.
    func checkSpeed(at now: UInt64) {
        guard let speed, let end = speedEnd, end <= now else { return }
        let moved = sender.bytesSent + receiver.bytesReceived - speed.bytes
        let seconds = Double(now - speed.since) / 1e9
        if Double(moved) >= Double(speed.minimum.bytesPerSecond) * seconds { restartSpeedWindow() }
    }
}

extension NetworkError {
    /// Returns the error for an exceeded time limit.
    static func timeout(during phase: Phase, _ what: String, _ name: String) -> NetworkError {
        timeout(during: phase, what, advice: "increase \(name), or check the server")
    }

    /// Returns the error for an exceeded time limit, with its own advice.
    fileprivate static func timeout(during phase: Phase, _ what: String, advice: String) -> NetworkError {
        var error = NetworkError(.timeout, during: phase, what, advice: advice)
        error.transportCode = Int(CURLE_OPERATION_TIMEDOUT.rawValue)
        return error
    }
}
