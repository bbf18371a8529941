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
        let queued = max(0, metrics.queued.wholeMicroseconds - before.wholeMicroseconds)
        let (lookup, connected) = (metrics.nameLookup.wholeMicroseconds, metrics.connect.wholeMicroseconds)
        let (secured, began) = (metrics.tlsHandshake.wholeMicroseconds, metrics.requestStart.wholeMicroseconds)
        let (uploaded, answered) = (metrics.requestEnd.wholeMicroseconds, metrics.firstByte.wholeMicroseconds)
        let end = max(lookup, connected, secured, began, uploaded, answered, metrics.total.wholeMicroseconds)
        guard end > 0 else {
            self.init(blocked: .microseconds(queued), send: .zero, wait: .zero, receive: .zero)
            return
        }
        // A mark may be there before the first microsecond is over.
        let (isSent, isSecure) = (metrics.requestStart > .zero, metrics.tlsHandshake > .zero)
        let (isUploaded, isAnswered) = (metrics.requestEnd > .zero, metrics.firstByte > .zero)
        var cursor: Int64 = 0
        /// The time up to a mark, or to the end where the phase did not come to its own.
        func phase(to mark: Int64, isOver: Bool = true) -> Duration {
            let next = isOver ? max(cursor, min(mark, end)) : end
            defer { cursor = next }
            return .microseconds(next - cursor)
        }
        var (dns, connect, tls) = (Duration?.none, Duration?.none, Duration?.none)
        if !metrics.isConnectionReused {
            if !isAddress() { dns = phase(to: lookup, isOver: metrics.nameLookup > .zero) }
            if cursor < end || isSent {
                let begin = cursor
                connect = phase(to: max(connected, secured), isOver: isSent)
                if isSecure { tls = .microseconds(max(0, cursor - max(begin, connected))) }
            }
        }
        let blocked = .microseconds(queued) + phase(to: began, isOver: isSent)
        let send = phase(to: isUploaded ? uploaded : answered, isOver: isUploaded || isAnswered)
        let wait = phase(to: answered, isOver: isAnswered)
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
        let rest = .microseconds(duration.wholeMicroseconds) - total
        if rest > .zero { timings.receive = (receive ?? .zero) + rest }
        return timings
    }
}

extension Duration {
    /// Without the fraction of a microsecond, which a log has no digits for.
    fileprivate var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
