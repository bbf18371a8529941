import BeagleNet
import BeagleNetHTTP
import Dispatch

/// A job for the writer of a log.
struct LogJob: Sendable {
    /// The work to do. Large values are behind a reference, because jobs are moved within the queue.
    enum Work: Sendable {
        /// Writes the start of an exchange.
        ///
        /// If `hasHead`, it has the response head, and an earlier start was queued before.
        case start(any EntryDraft, hasHead: Bool = false)
        /// Begins a body that arrives in pieces, and discards an earlier one in the same place.
        indirect case open(MessageSide, mediaType: String, coding: BodyCoding? = nil, Redactor)
        /// Adds the next piece of a body.
        case chunk(MessageSide, Data)
        /// Writes a message of a WebSocket or an event stream.
        indirect case message(LogEntry.Message, Redactor)
        /// Writes the end of an exchange.
        case end(any EntryDraft)
        /// Writes a note for readers of the log.
        case note(String)
        /// Calls back when all earlier jobs are written.
        case call(@Sendable () -> Void)
    }

    /// The kind of start that a job records.
    enum Start: Sendable {
        case exchange, head
    }

    /// The number of the exchange; 0 if the job belongs to no exchange.
    let exchange: Int
    let work: Work
    /// The kind of start that `work` records, or `nil`. Stored, because the queue is searched for it at the end of each
    /// exchange.
    let start: Start?
    /// The approximate memory that the job occupies, in bytes.
    var bytes: Int
    /// Whether the job records a failure. Such jobs are dropped last.
    var isFailure = false
    /// Whether the bodies were dropped because there was no room.
    var isBodiless = false
    /// The time at which a start was queued.
    var began = DispatchTime(uptimeNanoseconds: 0)

    init(exchange: Int, work: Work, bytes: Int, isFailure: Bool = false, isBodiless: Bool = false) {
        self.exchange = exchange
        self.work = work
        self.bytes = bytes
        self.isFailure = isFailure
        self.isBodiless = isBodiless
        if case .start(_, let hasHead) = work { start = hasHead ? .head : .exchange } else { start = nil }
    }

    /// The approximate size of an entry's heads in bytes.
    static let headBytes = 1 << 10

    /// The body to which this piece belongs.
    var chunkPlace: BodyKey? {
        if case .chunk(let side, _) = work { return BodyKey(exchange: exchange, side: side) }
        return nil
    }

    /// The body that this job begins.
    var openPlace: BodyKey? {
        if case .open(let side, _, _, _) = work { return BodyKey(exchange: exchange, side: side) }
        return nil
    }

    var isCall: Bool {
        if case .call = work { return true }
        return false
    }
}

/// The identifier of a body: its exchange and its side.
struct BodyKey: Hashable, Sendable {
    let exchange: Int
    let side: MessageSide
}
