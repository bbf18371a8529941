import BeagleNet

extension LogEntry.Timings {
    /// Computes the phases of a request from its transfer's metrics. Their sum is exactly the total time, to the
    /// microsecond.
    ///
    /// If the request failed in a phase, that phase has the remaining time, and later phases are empty.
    ///
    /// - Parameters:
    ///   - metrics: the metrics of the transfer.
    ///   - before: the part of `queued` that belongs to earlier requests of the transfer.
    ///   - isAddress: whether the URL's host is the address of the connection, so that no name was resolved.
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
        // An event can occur within the first microsecond.
        let (isSent, isSecure) = (metrics.requestStart > .zero, metrics.tlsHandshake > .zero)
        let (isUploaded, isAnswered) = (metrics.requestEnd > .zero, metrics.firstByte > .zero)
        var cursor: Int64 = 0
        /// Returns the time up to an event, or up to the end if the event didn't occur.
        func phase(to mark: Int64, isFinished: Bool = true) -> Duration {
            let next = isFinished ? max(cursor, min(mark, end)) : end
            defer { cursor = next }
            return .microseconds(next - cursor)
        }
        var (dns, connect, tls) = (Duration?.none, Duration?.none, Duration?.none)
        if !metrics.isConnectionReused {
            if !isAddress() { dns = phase(to: lookup, isFinished: metrics.nameLookup > .zero) }
            if cursor < end || isSent {
                let begin = cursor
                connect = phase(to: max(connected, secured), isFinished: isSent)
                if isSecure { tls = .microseconds(max(0, cursor - max(begin, connected))) }
            }
        }
        let blocked = .microseconds(queued) + phase(to: began, isFinished: isSent)
        let send = phase(to: isUploaded ? uploaded : answered, isFinished: isUploaded || isAnswered)
        let wait = phase(to: answered, isFinished: isAnswered)
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

    /// Returns the same timings extended to a total duration; the additional time counts as receiving.
    func lasting(_ duration: Duration) -> LogEntry.Timings {
        var timings = self
        let rest = .microseconds(duration.wholeMicroseconds) - total
        if rest > .zero { timings.receive = (receive ?? .zero) + rest }
        return timings
    }
}

extension Duration {
    /// The duration in whole microseconds, which is the precision of a log.
    fileprivate var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
