import BeagleNetHTTP
import CBeagleNetCurl

/// The timeouts, rate limits and `Expect: 100-continue` handling of a hop.
extension Hop {
    /// The times from which the hop's time limits count.
    struct Timing {
        /// The time at which bytes were last sent or received.
        var lastActivity: UInt64
        /// The time at which bytes of the request were last sent; 0 before.
        var lastSent: UInt64 = 0
        /// The time at which libcurl began to resolve the host; `nil` if it isn't doing so.
        var resolveStart: UInt64?
        /// The time at which the TLS handshake began; `nil` if it isn't in progress.
        var handshakeStart: UInt64?
        /// The time at which the rest of a discarded body, and its connection, are given up; `nil` if the body is not
        /// discarded.
        var discardDeadline: UInt64?
        /// The state of the minimum-speed check; `nil` if there is no minimum.
        var speed: SpeedWindow?

        /// Notes that a connection is ready and the request is about to be sent.
        mutating func didConnect(at now: UInt64) {
            (lastActivity, lastSent, resolveStart, handshakeStart) = (now, now, nil, nil)
        }
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

    /// The limit on the receive rate, in bytes per second; `nil` for no limit.
    var receiveLimit: Int? {
        let own = request.options.extras?.bandwidth.receive
        guard transfer.request.options.priority == .prefetch else { return own }
        return [own, loop.configuration.prefetchBytesPerSecond].compactMap(\.self).min()
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

    // MARK: Expect: 100-continue

    /// Whether the request can be resent without `Expect` if the server refuses it.
    var canRetryWithoutExpect: Bool {
        request.sendsExpectContinue && (!sender.hasBegun || request.body?.isReplayable == true)
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
        guard attempts.count > 0 else { return connectingLimit?.end }
        let limit = receiver.response == nil ? timeouts.firstByte : timeouts.idle
        let silence = limit.map { timing.lastActivity.advanced(by: $0) }
        guard let slowness = speedEnd else { return silence }
        return min(silence ?? .max, slowness)
    }

    /// Returns the time at which to check `deadline` again while no deadline applies to the hop.
    func earliestDeadline(at now: UInt64) -> UInt64? {
        let timeouts = request.options.timeouts
        guard let firstByte = timeouts.firstByte, let idle = timeouts.idle else {
            return (timeouts.firstByte ?? timeouts.idle ?? timing.speed?.minimum.window).map { now.advanced(by: $0) }
        }
        return now.advanced(by: min(firstByte, idle))
    }

    /// Returns the error for a deadline that has passed.
    func timeout(at now: UInt64) -> NetworkError {
        let timeouts = request.options.timeouts
        let phase = phase
        if attempts.count == 0, let limit = connectingLimit {
            return .timeout(during: phase, limit.what, limit.name)
        }
        if let speed = timing.speed, let end = speedEnd, end <= now {
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
        if resolution != nil, let limit = [timeouts.resolve, connectLimit].compactMap(\.self).min() {
            return Limit(
                end: timing.lastActivity.advanced(by: limit),
                what: "the app's resolver did not return within \(limit)",
                name: limit == timeouts.resolve ? "Timeouts.resolve" : "Timeouts.connect"
            )
        }
        if let since = timing.resolveStart, let limit = timeouts.resolve {
            return Limit(
                end: since.advanced(by: limit),
                what: "the host name was not resolved within \(limit)",
                name: "Timeouts.resolve"
            )
        }
        if let since = timing.handshakeStart, let limit = timeouts.tls {
            return Limit(
                end: since.advanced(by: limit),
                what: "the TLS handshake took longer than \(limit)",
                name: "Timeouts.tls"
            )
        }
        return nil
    }

    // MARK: minimum speed

    private var isBodyMoving: Bool { receiver.response != nil || (attempts.count > 0 && !sender.isFinished) }

    private var speedEnd: UInt64? {
        guard let speed = timing.speed, isBodyMoving else { return nil }
        return speed.since.advanced(by: speed.minimum.window)
    }

    /// Starts a new window for the minimum speed.
    func restartSpeedWindow() {
        guard var speed = timing.speed else { return }
        speed.since = loop.now
        speed.bytes = sender.bytesSent + receiver.bytesReceived
        timing.speed = speed
        loop.watchDeadline(of: transfer)
    }

    /// Starts a new window if the last one has passed and enough bytes were transferred in it.
    func checkSpeed(at now: UInt64) {
        guard let speed = timing.speed, let end = speedEnd, end <= now else { return }
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
