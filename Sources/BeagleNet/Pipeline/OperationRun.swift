import BeagleNetDependencies
package import BeagleNetHTTP
import Synchronization

/// The state that a client adds to an operation and that all attempts of its run share.
package final class OperationRun: Sendable {
    /// The content that identical operations, which share a run, have in common; `nil` if the operation isn't shared.
    let comparedContent: NetworkOperation.ComparedContent?
    /// The partition in the compared content.
    let partition: String
    /// The policy of the client that accepted the operation, for an operation without its own; `nil` for that of the
    /// kind.
    let policy: RequestPolicy?
    let operationEnvironment: OperationEnvironment
    /// The origin-scoped fields that the builder declared; interceptors may add others later.
    let scopedFields: Set<HTTPField.Name>
    /// The origin-scoped fields that were part of the request.
    let requestScopedFields: HTTPFields
    /// The number of the user whose credentials the pipeline had when the client accepted the operation; 0 if it has
    /// none.
    let credentialOwner: Int
    /// The logger as captured in the caller's task; `nil` if it is the client's.
    let logger: (any BeagleLogger)?
    /// The message that the client built, if equal requests share it.
    let builtMessage: BuiltMessage?

    private struct State: Sendable {
        var attempts = 1
        var credentialOwner: Int?
        var firstCredentialOwner: Int?
        var deadlineTimer: DeadlineTimer?
        var sendRecord: SendRecord?
        var forwardReason: CacheStatus.ForwardReason?
        var shared: [ObjectIdentifier: any Sendable] = [:]
    }

    private let messages = Atomic<Int>(0)
    /// The log entry of the last message.
    package let lastEntry = InlineLock<EntryID?>(nil)
    private let state = InlineLock(State())

    /// Creates a run that has sent nothing.
    init(
        comparedContent: NetworkOperation.ComparedContent?,
        partition: String = "",
        policy: RequestPolicy? = nil,
        operationEnvironment: OperationEnvironment = .none,
        scopedFields: Set<HTTPField.Name> = [],
        requestScopedFields: HTTPFields = [:],
        credentialOwner: Int = 0,
        logger: (any BeagleLogger)? = nil,
        builtMessage: BuiltMessage? = nil
    ) {
        self.comparedContent = comparedContent
        self.partition = partition
        self.policy = policy
        self.operationEnvironment = operationEnvironment
        self.scopedFields = scopedFields
        self.requestScopedFields = requestScopedFields
        self.credentialOwner = credentialOwner
        self.logger = logger
        self.builtMessage = builtMessage
    }

    /// Creates another run of the same operation.
    convenience init(like run: OperationRun) {
        self.init(
            comparedContent: run.comparedContent,
            partition: run.partition,
            policy: run.policy,
            operationEnvironment: run.operationEnvironment,
            scopedFields: run.scopedFields,
            requestScopedFields: run.requestScopedFields,
            credentialOwner: run.credentialOwner,
            logger: run.logger,
            builtMessage: run.builtMessage
        )
    }

    /// Creates a run for an operation that no client has accepted.
    package convenience init() {
        self.init(comparedContent: nil)
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

    /// Records the number of the user whose credentials the attempt gets.
    ///
    /// - Returns: Whether an attempt before a retry had those of another user.
    func noteAttempt(of credentialOwner: Int) -> Bool {
        state.withLock { state in
            state.credentialOwner = credentialOwner
            return state.firstCredentialOwner.map { $0 != credentialOwner } ?? false
        }
    }

    /// Begins retrying for the user whose credentials the first attempt had, or would have had if it failed before.
    func beginRetries() {
        state.withLock { state in
            state.firstCredentialOwner = state.credentialOwner ?? (credentialOwner == 0 ? nil : credentialOwner)
        }
    }

    /// The running deadline of the operation; `nil` if it has no limit.
    var deadlineTimer: DeadlineTimer? {
        get { state.withLock { $0.deadlineTimer } }
        set { state.withLock { $0.deadlineTimer = newValue } }
    }

    /// Ends the deadline for interceptors above it.
    func end(_ deadlineTimer: DeadlineTimer) {
        state.withLock { state in
            if state.deadlineTimer === deadlineTimer { state.deadlineTimer = nil }
        }
    }

    /// The record of how the message was sent, for a cache; `nil` if the response isn't stored.
    var sendRecord: SendRecord? {
        get { state.withLock { $0.sendRecord } }
        set { state.withLock { $0.sendRecord = newValue } }
    }

    /// The reason for which a cache passed the operation on to the server; `nil` without a cache.
    package var forwardReason: CacheStatus.ForwardReason? {
        get { state.withLock { $0.forwardReason } }
        set { state.withLock { $0.forwardReason = newValue } }
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
