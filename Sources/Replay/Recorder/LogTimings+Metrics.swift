import BeagleNet

extension LogTimings {
    /// The phases of a message by the marks of its transfer; together they are exactly as long as it took, to the
    /// microsecond.
    ///
    /// What failed in a phase has the rest in it, and nothing behind it.
    ///
    /// - Parameters:
    ///   - metrics: the marks.
    ///   - before: how much of `queued` belongs to messages before this one.
    ///   - isAddress: whether an address was connected to that the URL has, so that no name was looked up.
    init(_ metrics: TransferMetrics, queuedBefore before: Duration = .zero, isAddress: @autoclosure () -> Bool = false)
    {
        let queued = max(.zero, metrics.queued.wholeMicroseconds - before.wholeMicroseconds)
        let end =
            [
                metrics.nameLookup, metrics.connect, metrics.tlsHandshake, metrics.requestStart, metrics.requestEnd,
                metrics.firstByte, metrics.total,
            ].max()?.wholeMicroseconds ?? .zero
        guard end > .zero else {
            self.init(blocked: queued, send: .zero, wait: .zero, receive: .zero)
            return
        }
        var cursor = Duration.zero
        /// The time up to a mark, or to the end where the phase did not come to its own.
        func phase(to mark: Duration, isOver: Bool = true) -> Duration {
            let next = isOver ? max(cursor, min(mark.wholeMicroseconds, end)) : end
            defer { cursor = next }
            return next - cursor
        }
        var blocked = queued
        var (dns, connect, tls) = (Duration?.none, Duration?.none, Duration?.none)
        let isSent = metrics.requestStart > .zero
        if !metrics.isConnectionReused {
            if !isAddress() { dns = phase(to: metrics.nameLookup, isOver: metrics.nameLookup > .zero) }
            if cursor < end || isSent {
                let begin = cursor
                connect = phase(to: max(metrics.connect, metrics.tlsHandshake), isOver: isSent)
                if metrics.tlsHandshake > .zero {
                    tls = max(.zero, cursor - max(begin, metrics.connect.wholeMicroseconds))
                }
            }
        }
        blocked += phase(to: metrics.requestStart, isOver: isSent)
        let isUploaded = metrics.requestEnd > .zero
        let send = phase(
            to: isUploaded ? metrics.requestEnd : metrics.firstByte,
            isOver: isUploaded || metrics.firstByte > .zero
        )
        let wait = phase(to: metrics.firstByte, isOver: metrics.firstByte > .zero)
        self.init(
            blocked: blocked,
            dns: dns,
            connect: connect,
            tls: tls,
            send: send,
            wait: wait,
            receive: phase(to: end)
        )
    }

    /// The same, of what took this long in all: the rest was spent receiving.
    func lasting(_ duration: Duration) -> LogTimings {
        var timings = self
        let rest = duration.wholeMicroseconds - total
        if rest > .zero { timings.receive = (receive ?? .zero) + rest }
        return timings
    }
}

extension Duration {
    /// Without the fraction of a microsecond, which a log has no digits for.
    fileprivate var wholeMicroseconds: Duration {
        let (seconds, attoseconds) = components
        return .seconds(seconds) + .microseconds(attoseconds / 1_000_000_000_000)
    }
}
