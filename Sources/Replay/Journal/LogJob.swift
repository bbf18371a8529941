import BeagleNet
import BeagleNetHTTP
import Dispatch

/// Something for the writer of a log to do.
struct LogJob: Sendable {
    /// What is large is behind a reference, as jobs are moved about in the queue.
    enum Work: Sendable {
        /// An exchange has begun; or it has its head, and a beginning of it was queued before.
        case start(any LogDraft, hasHead: Bool = false)
        /// A body begins to come in pieces; one of the same place before is forgotten.
        indirect case open(BodySide, mediaType: String, coding: BodyCoding? = nil, Redactor)
        /// The next piece of a body.
        case chunk(BodySide, Data)
        /// A message of a WebSocket or an event stream.
        indirect case message(LoggedMessage, Redactor)
        /// An exchange has ended.
        case end(any LogDraft)
        /// Words for whoever reads the log.
        case note(String)
        /// Everything before was written.
        case call(@Sendable () -> Void)
    }

    /// A draft of closures, for entries that nobody makes often.
    final class Draft: LogDraft {
        let redactor: Redactor
        private let coding: @Sendable (BodySide) -> BodyCoding?
        private let make: @Sendable () -> LogEntry

        init(
            redactor: Redactor,
            coding: @escaping @Sendable (BodySide) -> BodyCoding? = { _ in nil },
            make: @escaping @Sendable () -> LogEntry
        ) {
            self.redactor = redactor
            self.coding = coding
            self.make = make
        }

        func coding(of side: BodySide) -> BodyCoding? { coding(side) }
        func withEntry(_ body: (inout LogEntry) -> Void) {
            var entry = make()
            body(&entry)
        }
    }

    /// What of an exchange begins.
    enum Start: Sendable {
        case exchange, head
    }

    /// The exchange; 0 where it is none.
    let exchange: Int
    let work: Work
    /// What `work` begins; nil where that is something else. At hand, as the queue is looked through for it at each end.
    let start: Start?
    /// About how much memory waits with it.
    var bytes: Int
    /// Whether it tells of a failure, which is the last to be left out.
    var isFailure = false
    /// Whether there was no room for the bodies in it.
    var isBodiless = false
    /// When a beginning came into the queue.
    var began = DispatchTime(uptimeNanoseconds: 0)

    init(exchange: Int, work: Work, bytes: Int, isFailure: Bool = false, isBodiless: Bool = false) {
        self.exchange = exchange
        self.work = work
        self.bytes = bytes
        self.isFailure = isFailure
        self.isBodiless = isBodiless
        if case .start(_, let hasHead) = work { start = hasHead ? .head : .exchange } else { start = nil }
    }

    /// What an entry's heads take, about.
    static let headBytes = 1 << 10

    /// The body of which it is a piece.
    var chunkPlace: BodyPlace? {
        if case .chunk(let side, _) = work { return BodyPlace(exchange: exchange, side: side) }
        return nil
    }

    /// The body that it begins.
    var openPlace: BodyPlace? {
        if case .open(let side, _, _, _) = work { return BodyPlace(exchange: exchange, side: side) }
        return nil
    }

    var isCall: Bool {
        if case .call = work { return true }
        return false
    }
}

/// An entry as it is before anything was taken out of it, made by the writer: who asks does not pay for it.
protocol LogDraft: AnyObject, Sendable {
    var redactor: Redactor { get }
    /// What a body in it is still coded in.
    func coding(of side: BodySide) -> BodyCoding?
    /// Makes the entry. Not given back, as it is large: on its way it would be copied.
    func withEntry(_ body: (inout LogEntry) -> Void)
}

/// A body of an exchange.
struct BodyPlace: Hashable, Sendable {
    let exchange: Int
    let side: BodySide
}
