public import BeagleNetHTTP

/// A decorator of operations: changes the request, returns a response without the network, or retries.
///
/// It may wait.
///
/// For code that only edits requests or observes results, use a `RequestObserver`, which needs no task.
///
/// One function serves every kind of operation. Its return value is the final result; `emit` receives earlier ones.
/// Cancelling its task cancels the operation.
///
/// ```swift
/// struct Signature: Interceptor {
///     func intercept(_ operation: NetworkOperation, next: Next, emit: @escaping Emit) async throws(NetworkError)
///         -> NetworkOperation.Result
///     {
///         var operation = operation
///         operation.transfer.head.headerFields[.signature] = sign(operation)
///         return try await next(operation, emit)
///     }
/// }
/// ```
///
/// An interceptor may skip `next`, or call it again after it has returned. If it throws after it has emitted results,
/// the caller receives the results and then the error. To call code that throws other errors, use
/// `NetworkError.catching`.
public protocol Interceptor: Sendable {
    /// Receives earlier results, on any thread.
    typealias Emit = @Sendable (NetworkOperation.Result) -> Void
    /// The rest of the pipeline.
    typealias Next = Pipeline.Next

    /// The interceptor's place in a pipeline; `nil`, the default, for any place.
    var place: Pipeline.Place? { get }

    /// Whether `intercept` neither blocks its thread nor computes for long.
    ///
    /// It may then run on the transport's thread, which saves each response a change of threads. `false` by default.
    var neverBlocks: Bool { get }

    /// The number of the user whose credentials the interceptor adds to requests.
    ///
    /// Return a new number as soon as the credentials may be another user's: responses are shared and stored for one
    /// number only. While no user is signed in, return a number for that state. `nil`, the default, for an interceptor
    /// that never adds credentials.
    var credentialOwner: Int? { get }

    /// Returns whether the interceptor handles an operation.
    ///
    /// `true` by default. An interceptor that doesn't apply is skipped at no cost.
    func applies(to operation: NetworkOperation) -> Bool

    /// Performs the interceptor's work before the request is sent, if that doesn't require waiting.
    ///
    /// Called on the caller's thread, or on the transport's for a later attempt.
    ///
    /// - Parameters:
    ///   - operation: The operation; later interceptors see changes to it.
    ///   - next: The rest of the pipeline.
    /// - Returns: The next step; `.wait` by default, which calls `intercept`.
    func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision

    /// Takes an operation to its result, if `begin` returned `.wait`.
    ///
    /// - Parameters:
    ///   - operation: The operation to perform.
    ///   - next: The rest of the pipeline.
    ///   - emit: Receives results before the last.
    /// - Returns: The last result.
    /// - Throws: A `NetworkError` if there is no result.
    nonisolated(nonsending) func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result
}

extension Interceptor {
    /// No particular place.
    public var place: Pipeline.Place? { nil }

    /// `false`: the interceptor may block.
    public var neverBlocks: Bool { false }

    /// `nil`: the interceptor adds no credentials.
    public var credentialOwner: Int? { nil }

    /// Returns `true` for every operation.
    public func applies(to operation: NetworkOperation) -> Bool { true }

    /// Returns `.wait`.
    public func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision { .wait }
}

extension Pipeline {
    /// The next step of an operation after the synchronous part of an interceptor (`Interceptor.begin`).
    public enum Decision: Sendable {
        /// Continues with the rest of the pipeline. The observation, if any, receives the result.
        case proceed((any RequestObservation)?)
        /// Emits this earlier result and then behaves as `proceed`.
        case emit(NetworkOperation.Result, (any RequestObservation)?)
        /// Ends with this result; nothing is sent.
        case answer(NetworkOperation.Result)
        /// Ends with this error; nothing is sent.
        case fail(NetworkError)
        /// Continues in a task, with `intercept`.
        case wait
    }
}
