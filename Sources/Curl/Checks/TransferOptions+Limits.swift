import BeagleNetHTTP

extension TransferOptions {
    /// Checks the limits that every transfer has.
    func checkLimits() throws(NetworkError) {
        try timeouts.check()
        if let maxBodyBytes, maxBodyBytes < 0 {
            throw .badOption("maxBodyBytes", "is \(maxBodyBytes)", advice: "use 0 or more, or nil for any size")
        }
        guard redirects.limit >= 0 else {
            throw .badOption(
                "redirects.limit",
                "is \(redirects.limit)",
                advice: "use 0 or more; 0 follows no redirects"
            )
        }
    }
}

extension TransferOptions.Timeouts {
    /// Checks that every limit is above zero.
    func check() throws(NetworkError) {
        guard
            isOutOfRange(resolve) || isOutOfRange(connect) || isOutOfRange(tls) || isOutOfRange(firstByte)
                || isOutOfRange(idle) || isOutOfRange(total)
        else { return }
        let limits = [
            ("resolve", resolve), ("connect", connect), ("tls", tls), ("firstByte", firstByte), ("idle", idle),
            ("total", total),
        ]
        for (name, limit) in limits where isOutOfRange(limit) {
            throw .badOption(
                "timeouts.\(name)",
                "is \(limit ?? .zero)",
                advice: "use a duration above zero, or nil for no limit"
            )
        }
    }

    private func isOutOfRange(_ limit: Duration?) -> Bool {
        limit.map { $0 <= .zero } ?? false
    }
}

extension TransferOptions.Settings {
    /// Checks bandwidth limits, the minimum speed and the settings of `Expect: 100-continue`.
    func checkLimits() throws(NetworkError) {
        for (name, rate) in [("receive", bandwidth.receive), ("send", bandwidth.send)] {
            guard let rate, rate < 1 else { continue }
            throw .badOption("bandwidth.\(name)", "is \(rate)", advice: "use 1 or more, or nil for no limit")
        }
        if let minimumSpeed { try check(minimumSpeed) }
        if let threshold = expect.threshold, threshold < 0 {
            throw .badOption("expect", "the threshold is \(threshold) bytes", advice: "use 0 or more")
        }
        guard expect.timeout > .zero, expect.timeout <= .day else {
            throw .badOption(
                "expect",
                "the wait is \(expect.timeout)",
                advice: "use a duration above zero and at most one day"
            )
        }
    }

    private func check(_ minimum: TransferOptions.MinimumSpeed) throws(NetworkError) {
        guard minimum.bytesPerSecond >= 1 else {
            throw .badOption("minimumSpeed.bytesPerSecond", "is \(minimum.bytesPerSecond)", advice: "use 1 or more")
        }
        guard minimum.window > .zero, minimum.window <= .day else {
            throw .badOption(
                "minimumSpeed.window",
                "is \(minimum.window)",
                advice: "use a duration above zero and at most one day"
            )
        }
        for (name, rate) in [("receive", bandwidth.receive), ("send", bandwidth.send)] {
            guard let rate, rate < minimum.bytesPerSecond else { continue }
            throw .badOption(
                "minimumSpeed",
                "is above bandwidth.\(name)",
                advice: "set bandwidth.\(name) to at least this speed"
            )
        }
    }
}

extension Duration {
    fileprivate static let day = Duration.seconds(86_400)
}
