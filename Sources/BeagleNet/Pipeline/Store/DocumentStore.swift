import BeagleNetHTTP

/// Keeps whole answers for a `CacheInterceptor`, one for each thing that operations ask.
///
/// What is asked is told apart by the operation's `key`, which is not nil here and already says whose answer it is. The
/// functions are async because a disk may be slow, and run where they are called: a store in memory that never waits
/// lets a stored answer be given inside of the call that asks for it. A store that fails has nothing stored.
///
/// Keys are the process's own. A store that outlives the process tells answers apart by `transfer` and `partition`, and
/// keeps only those of operations with a partition: without one nothing of an operation says who had signed in.
public protocol DocumentStore: Sendable {
    /// What is stored for an operation; nil where nothing is.
    nonisolated(nonsending) func document(for operation: NetworkOperation) async -> StoredDocument?

    /// Stores the answer to an operation, in the place of an older one.
    ///
    /// - Parameters:
    ///   - response: the whole answer, which came just now by the operation's `clock`.
    ///   - operation: what was asked.
    nonisolated(nonsending) func store(_ response: NetworkResponse, for operation: NetworkOperation) async

    /// Forgets what is stored for an operation.
    nonisolated(nonsending) func remove(_ operation: NetworkOperation) async

    /// Forgets everything, as after somebody has signed out.
    nonisolated(nonsending) func removeAll() async
}

/// An answer that was stored.
public struct StoredDocument: Sendable {
    /// The answer.
    public var response: NetworkResponse
    /// How long ago it came.
    public var age: Duration

    /// Describes a stored answer.
    public init(_ response: NetworkResponse, age: Duration) {
        self.response = response
        self.age = age
    }
}
