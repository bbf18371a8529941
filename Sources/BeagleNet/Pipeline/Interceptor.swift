public import BeagleNetHTTP

/// Decorates operations: changes what is sent, answers in the network's place, asks again, looks on.
///
/// One function serves every kind of operation. What it returns is the final result, what it gives to `emit` are
/// earlier ones; cancelling its task is the end of the operation.
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

    /// Whether it has anything to do with an operation; true by default. What says no is passed over, which costs
    /// nothing.
    func applies(to operation: NetworkOperation) -> Bool

    /// Takes an operation to its result.
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

    /// With every operation.
    public func applies(to operation: NetworkOperation) -> Bool { true }
}

/// An interceptor that does so little after it waited that it may do it on the transport's thread, which saves each
/// answer a hop between threads.
package protocol BriefInterceptor: Interceptor {
    /// Whether this one does; yes by default.
    var isBrief: Bool { get }
}

extension BriefInterceptor {
    package var isBrief: Bool { true }
}

/// An interceptor that asks `NetworkOperation.messages` how many went out before.
package protocol CountingInterceptor: Interceptor {}

/// An interceptor that looks on: it hears what goes out and what comes of it, and needs no task for that.
package protocol OnlookingInterceptor: Interceptor {
    /// A message is about to go out, and is answered as a whole.
    ///
    /// - Parameters:
    ///   - operation: whose message it is.
    ///   - transfer: the message; who wants to hear how it fares on its way may have it tell.
    ///   - messages: counts those of the run; nil where nobody counts.
    /// - Returns: who hears what comes of it.
    func onlooker(
        of operation: NetworkOperation,
        sending transfer: inout TransferRequest,
        _ messages: MessageCount?
    ) -> any Onlooker
}

/// Who looks on at one message.
package protocol Onlooker: AnyObject, Sendable {
    /// What came of it: heard once, before anybody else does, and possibly on the transport's thread.
    func hear(_ outcome: Result<NetworkOperation.Result, NetworkError>)
}

/// An interceptor that hears of the answers that a store above it gives, which never come to it.
package protocol StoreObservingInterceptor: Interceptor {
    /// A store has given this answer.
    func observe(_ stored: NetworkOperation.Result, for operation: NetworkOperation)
}

/// An interceptor that gives operations the credentials of somebody.
protocol PersonalInterceptor: Interceptor {
    /// Whose they are: another number than any before as soon as they may be another person's.
    var person: Int { get }
}
