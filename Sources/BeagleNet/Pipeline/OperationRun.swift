import BeagleNetDependencies
package import BeagleNetHTTP
import Synchronization

/// The state that a client adds to an operation, and that the attempts of its run share.
package final class OperationRun: Sendable {
    /// Identifies identical operations, which share a run; nil if it isn't shared.
    let question: NetworkOperation.Question?
    /// The partition of which the question was made.
    let partition: String
    let surroundings: Surroundings
    /// The fields that belong to the origin as the builder said: those of later interceptors come to them.
    let scopedFields: Set<HTTPField.Name>
    /// Those of them that the request brought.
    let broughtFields: HTTPFields
    /// The number of the user whose credentials the pipeline had when the client accepted it; 0 if it has none.
    let person: Int
    /// The logger as the caller's task has it; nil if that is the client's.
    let logger: (any BeagleLogger)?

    private struct State: Sendable {
        var attempts = 1
        var firstOwner: Int?
        var countdown: Countdown?
        var sendRecord: SendRecord?
        var shared: [ObjectIdentifier: any Sendable] = [:]
    }

    private let messages = Atomic<Int>(0)
    /// The entry of the last message in a log.
    package let lastEntry = InlineLock<EntryID?>(nil)
    private let state = InlineLock(State())

    /// A run that has sent nothing.
    init(
        question: NetworkOperation.Question?,
        partition: String = "",
        surroundings: Surroundings = .none,
        scopedFields: Set<HTTPField.Name> = [],
        broughtFields: HTTPFields = [:],
        person: Int = 0,
        logger: (any BeagleLogger)? = nil
    ) {
        self.question = question
        self.partition = partition
        self.surroundings = surroundings
        self.scopedFields = scopedFields
        self.broughtFields = broughtFields
        self.person = person
        self.logger = logger
    }

    /// Another run of the same.
    convenience init(like run: OperationRun) {
        self.init(
            question: run.question,
            partition: run.partition,
            surroundings: run.surroundings,
            scopedFields: run.scopedFields,
            broughtFields: run.broughtFields,
            person: run.person,
            logger: run.logger
        )
    }

    /// A run of an operation that no client has taken on.
    package convenience init() {
        self.init(question: nil)
    }

    /// Of operations that no client has taken on: nothing is counted in it.
    static let none = OperationRun()

    /// Counts messages that are sent: those of all attempts and redirects.
    ///
    /// - Returns: The number before.
    @discardableResult
    package func add(_ count: Int = 1) -> Int {
        messages.add(count, ordering: .relaxed).oldValue
    }

    /// The number of attempts, including the present one.
    var attempts: Int { state.withLock { $0.attempts } }

    /// Counts another attempt.
    func addAttempt() { state.withLock { $0.attempts += 1 } }

    /// The number of the user whose credentials the first attempt had, set before another attempt; 0 for none.
    var firstOwner: Int? {
        get { state.withLock { $0.firstOwner } }
        set { state.withLock { $0.firstOwner = newValue } }
    }

    /// The deadline under which it runs; nil if there is none.
    var countdown: Countdown? {
        get { state.withLock { $0.countdown } }
        set { state.withLock { $0.countdown = newValue } }
    }

    /// The deadline is over, for interceptors above it.
    func end(_ countdown: Countdown) {
        state.withLock { state in
            if state.countdown === countdown { state.countdown = nil }
        }
    }

    /// The record of how the message was sent, for a cache; nil if the response isn't stored.
    var sendRecord: SendRecord? {
        get { state.withLock { $0.sendRecord } }
        set { state.withLock { $0.sendRecord = newValue } }
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

/// Identifies an entry of a log. Its text is made only when it is read.
package struct EntryID: Sendable, CustomStringConvertible {
    private let session: String
    private let number: Int

    /// - Parameters:
    ///   - session: the session that wrote it.
    ///   - number: which of the session's it is.
    package init(session: String, number: Int) {
        self.session = session
        self.number = number
    }

    package var description: String { "\(session)-\(number)" }
}
