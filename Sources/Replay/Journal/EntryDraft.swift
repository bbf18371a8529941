import BeagleNet
import BeagleNetHTTP

/// An unredacted entry that the log's writer creates later, so that the caller doesn't pay for it.
protocol EntryDraft: AnyObject, Sendable {
    var redactor: Redactor { get }
    /// Returns the content coding that a body of the entry still has.
    func coding(of side: MessageSide) -> BodyCoding?
    /// Creates the entry and passes it to a closure. It isn't returned, because it is large and would be copied.
    func withEntry(_ body: (inout LogEntry) -> Void)
}

extension LogJob {
    /// A draft made of closures, for entries that are rarely recorded.
    final class ClosureDraft: EntryDraft {
        let redactor: Redactor
        private let coding: @Sendable (MessageSide) -> BodyCoding?
        private let make: @Sendable () -> LogEntry

        init(
            redactor: Redactor,
            coding: @escaping @Sendable (MessageSide) -> BodyCoding? = { _ in nil },
            make: @escaping @Sendable () -> LogEntry
        ) {
            self.redactor = redactor
            self.coding = coding
            self.make = make
        }

        func coding(of side: MessageSide) -> BodyCoding? { coding(side) }
        func withEntry(_ body: (inout LogEntry) -> Void) {
            var entry = make()
            body(&entry)
        }
    }
}
