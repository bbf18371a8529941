/// The time until which a loop has processed everything that it received. Deadlines are checked against it, so responses
/// that have arrived count as in time even if a task or the machine held the thread up.
struct ProcessedTime {
    /// The time, in nanoseconds of the monotonic clock.
    private(set) var until: UInt64 = 0
    /// The number of consecutive looks whose event buffer was full, and the time at which the first of them began.
    private var fullBufferPolls: (count: Int, since: UInt64) = (0, 0)

    /// Notes that the events of a poll are processed. The time changes once a poll, or enough consecutive polls with a
    /// full event buffer, have found all events.
    mutating func note(_ poller: any Poller, since began: UInt64, transfers: Int) {
        if poller.hasFoundAll {
            until = began
            fullBufferPolls = (0, 0)
        } else if fullBufferPolls.count == 0 {
            fullBufferPolls = (1, began)
        } else if fullBufferPolls.count <= transfers / poller.maxEventsPerPoll {
            fullBufferPolls.count += 1
        } else {
            until = fullBufferPolls.since
            fullBufferPolls = (0, 0)
        }
    }
}
