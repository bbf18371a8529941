import BeagleNetHTTP

/// A store of complete responses for a `CacheInterceptor`, with one response for each key.
///
/// A response is identified by the operation's `key`, which is never `nil` here and already separates users. The
/// functions are async because a disk may be slow, and run where they are called. A store in memory that never waits
/// thus lets the cache return a response without suspending. A store that fails must behave as if it were empty.
///
/// Keys are valid in one process only. A store that outlives the process must identify responses by `transfer` and
/// `partition`, and must store only those of operations with a partition: without one, nothing in an operation
/// identifies the user.
public protocol DocumentStore: Sendable {
    /// Returns the stored response of an operation; `nil` if nothing is stored.
    nonisolated(nonsending) func document(for operation: NetworkOperation) async -> StoredDocument?

    /// Stores the response of an operation and replaces an older one.
    ///
    /// - Parameters:
    ///   - response: The complete response, which has just arrived by the operation's `clock`.
    ///   - operation: The operation.
    nonisolated(nonsending) func store(_ response: NetworkResponse, for operation: NetworkOperation) async

    /// Removes the stored response of an operation.
    nonisolated(nonsending) func remove(_ operation: NetworkOperation) async

    /// Removes all responses, for example when a user signs out.
    nonisolated(nonsending) func removeAll() async
}

/// A stored response with its age.
public struct StoredDocument: Sendable {
    /// The response.
    public var response: NetworkResponse
    /// The time since the response arrived.
    public var age: Duration

    /// Creates a stored response.
    public init(_ response: NetworkResponse, age: Duration) {
        self.response = response
        self.age = age
    }
}
