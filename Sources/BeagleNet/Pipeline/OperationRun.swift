package import BeagleNetHTTP
import Synchronization

/// What the attempts of one run of an operation have in common.
package final class OperationRun: Sendable {
    private struct State: Sendable {
        var attempts = 1
        var firstOwner: Int?
        var countdown: Countdown?
        var departure: Departure?
        var shared: [ObjectIdentifier: any Sendable] = [:]
    }

    private let messages = Atomic<Int>(0)
    /// The entry of the last message in a log.
    package let lastEntry = InlineLock<EntryID?>(nil)
    private let state = InlineLock(State())

    /// A run that has sent nothing.
    package init() {}

    /// Counts messages that are sent: those of all attempts and redirects.
    ///
    /// - Returns: How many there were before.
    @discardableResult
    package func add(_ count: Int = 1) -> Int {
        messages.add(count, ordering: .relaxed).oldValue
    }

    /// How many attempts there have been, the present one included.
    var attempts: Int { state.withLock { $0.attempts } }

    /// Counts another attempt.
    func addAttempt() { state.withLock { $0.attempts += 1 } }

    /// Whose credentials the first attempt had, once there is another; 0 for nobody's.
    var firstOwner: Int? {
        get { state.withLock { $0.firstOwner } }
        set { state.withLock { $0.firstOwner = newValue } }
    }

    /// The deadline under which it runs; nil if there is none.
    var countdown: Countdown? {
        get { state.withLock { $0.countdown } }
        set { state.withLock { $0.countdown = newValue } }
    }

    /// Where a cache notes how the message was sent; nil if nothing is to be stored.
    var departure: Departure? {
        get { state.withLock { $0.departure } }
        set { state.withLock { $0.departure = newValue } }
    }

    /// A value that the attempts share.
    ///
    /// - Parameters:
    ///   - key: a type that stands for the value.
    ///   - make: makes the value the first time.
    package func value<Value: Sendable>(for key: Any.Type, _ make: () -> Value) -> Value {
        let there = state.withLock { $0.shared[ObjectIdentifier(key)] }
        if let there = there as? Value { return there }
        let made = make()
        state.withLock { $0.shared[ObjectIdentifier(key)] = made }
        return made
    }
}

/// What tells an entry of a log from all others: text is made of it when somebody reads it.
package struct EntryID: Sendable, CustomStringConvertible {
    private let session: String
    private let number: Int

    /// - Parameters:
    ///   - session: who wrote it.
    ///   - number: which of the session's it is.
    package init(session: String, number: Int) {
        self.session = session
        self.number = number
    }

    package var description: String { "\(session)-\(number)" }
}
