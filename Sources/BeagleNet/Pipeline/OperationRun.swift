import BeagleNetDependencies
package import BeagleNetHTTP
import Synchronization

/// The state that a client adds to an operation and that all attempts of its run share.
package final class OperationRun: Sendable {
    /// The content that identical operations, which share a run, have in common; `nil` if the operation isn't shared.
    let question: NetworkOperation.Question?
    /// The partition in the question.
    let partition: String
    let surroundings: Surroundings
    /// The origin-scoped fields that the builder declared; interceptors may add others later.
    let scopedFields: Set<HTTPField.Name>
    /// The origin-scoped fields that were part of the request.
    let broughtFields: HTTPFields
    /// The number of the user whose credentials the pipeline had when the client accepted the operation; 0 if it has
    /// none.
    let person: Int
    /// The logger as captured in the caller's task; `nil` if it is the client's.
    let logger: (any BeagleLogger)?

    private struct State: Sendable {
        var attempts = 1
        var firstOwner: Int?
        var countdown: Countdown?
        var sendRecord: SendRecord?
        var shared: [ObjectIdentifier: any Sendable] = [:]
    }

    private let messages = Atomic<Int>(0)
    /// The log entry of the last message.
    package let lastEntry = InlineLock<EntryID?>(nil)
    private let state = InlineLock(State())

    /// Creates a run that has sent nothing.
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

    /// Creates another run of the same operation.
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

    /// Creates a run for an operation that no client has accepted.
    package convenience init() {
        self.init(question: nil)
    }

    /// The run of operations that no client has accepted.
    ///
    /// It counts nothing.
    static let none = OperationRun()

    /// Counts sent messages, including those of all attempts and redirects.
    ///
    /// - Returns: The count before.
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

    /// The running deadline of the operation; `nil` if it has no limit.
    var countdown: Countdown? {
        get { state.withLock { $0.countdown } }
        set { state.withLock { $0.countdown = newValue } }
    }

    /// Ends the deadline for interceptors above it.
    func end(_ countdown: Countdown) {
        state.withLock { state in
            if state.countdown === countdown { state.countdown = nil }
        }
    }

    /// The record of how the message was sent, for a cache; `nil` if the response isn't stored.
    var sendRecord: SendRecord? {
        get { state.withLock { $0.sendRecord } }
        set { state.withLock { $0.sendRecord = newValue } }
    }

    /// Returns a value that the attempts share.
    ///
    /// - Parameters:
    ///   - key: A type that identifies the value.
    ///   - make: Creates the value on first use.
    package func value<Value: Sendable>(for key: Any.Type, _ make: () -> Value) -> Value {
        let there = state.withLock { $0.shared[ObjectIdentifier(key)] }
        if let there = there as? Value { return there }
        let made = make()
        state.withLock { $0.shared[ObjectIdentifier(key)] = made }
        return made
    }
}

/// An identifier of a log entry.
///
/// Its text is created only when it is read.
package struct EntryID: Sendable, CustomStringConvertible {
    private let session: String
    private let number: Int

    /// - Parameters:
    ///   - session: The session that wrote the entry.
    ///   - number: The number of the entry in its session.
    package init(session: String, number: Int) {
        self.session = session
        self.number = number
    }

    package var description: String { "\(session)-\(number)" }
}
