public import BeagleNetHTTP

/// Decorates operations: changes the request, answers it in the network's place, or sends it again. It may wait. Code that
/// only edits requests or observes results is better a `RequestObserver`, which needs no task.
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
/// It need not call `next` at all, and may call it again after it came back. An error thrown after something was emitted
/// follows what was emitted. Bodies that throw other errors go through `NetworkError.catching`.
public protocol Interceptor: Sendable {
    /// Takes earlier results, on any thread.
    typealias Emit = @Sendable (NetworkOperation.Result) -> Void
    /// The rest of the pipeline.
    typealias Next = Pipeline.Next

    /// Where in a pipeline it belongs; nil, the default, anywhere.
    var place: Pipeline.Place? { get }

    /// Whether `intercept` neither blocks its thread nor computes for long, so that it may run on the transport's thread,
    /// which saves each response a change of threads. `false` by default.
    var neverBlocks: Bool { get }

    /// A number for the user whose credentials it adds to requests: a new one as soon as they may be another user's.
    /// Responses are shared and stored for one number alone. `nil`, the default, for an interceptor that never adds any.
    /// While no user is signed in, return a number for that.
    var credentialOwner: Int? { get }

    /// Whether it has anything to do with an operation; true by default. What says no is passed over, which costs
    /// nothing.
    func applies(to operation: NetworkOperation) -> Bool

    /// Does without waiting what comes before the request is sent, if it can. Called on the caller's thread, or on the
    /// transport's for a later attempt.
    ///
    /// - Parameters:
    ///   - operation: the operation; the interceptors after this one see changes.
    ///   - next: the rest of the pipeline.
    /// - Returns: The next step; `.wait` by default, which calls `intercept`.
    func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision

    /// Takes an operation to its result, where `begin` returned `.wait`.
    ///
    /// - Parameters:
    ///   - operation: what is asked.
    ///   - next: the rest of the pipeline.
    ///   - emit: takes results that are not the last.
    /// - Returns: the last result.
    /// - Throws: why there is none.
    nonisolated(nonsending) func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result
}

extension Interceptor {
    /// Anywhere.
    public var place: Pipeline.Place? { nil }

    /// It may block.
    public var neverBlocks: Bool { false }

    /// It adds no credentials.
    public var credentialOwner: Int? { nil }

    /// With every operation.
    public func applies(to operation: NetworkOperation) -> Bool { true }

    /// `.wait`.
    public func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision { .wait }
}

extension Pipeline {
    /// The next step of an operation after the synchronous part of an interceptor (`Interceptor.begin`).
    public enum Decision: Sendable {
        /// With the rest of the pipeline; the observation, if any, receives the result.
        case proceed((any RequestObservation)?)
        /// As `proceed`, after this earlier result was emitted.
        case emit(NetworkOperation.Result, (any RequestObservation)?)
        /// With this result; nothing is sent.
        case answer(NetworkOperation.Result)
        /// With this error; nothing is sent.
        case fail(NetworkError)
        /// In a task, with `intercept`.
        case wait
    }
}
