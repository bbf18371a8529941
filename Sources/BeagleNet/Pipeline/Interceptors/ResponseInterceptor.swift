public import BeagleNetHTTP

/// An interceptor of one function from a message to its whole answer, for those who need no more: it changes what is
/// sent, changes the answer, or answers itself. Results on the way pass it by unseen, and so do streamed answers and the
/// messages of a subscription, whose end is an empty answer to it: what is to change all of them is a `TransformInterceptor`.
///
/// ```swift
/// let stamp = ResponseInterceptor { message, next in
///     var message = message
///     message.head.headerFields[.date] = now()
///     return try await next(message)
/// }
/// ```
public struct ResponseInterceptor: Interceptor {
    /// The rest of the pipeline, for one message.
    public typealias Send = (TransferRequest) async throws(NetworkError) -> NetworkResponse

    /// Where it was said to belong.
    public let place: Pipeline.Place?
    private let body: @Sendable (TransferRequest, Send) async throws -> NetworkResponse

    /// An interceptor that does what `body` does.
    ///
    /// - Parameters:
    ///   - place: where it belongs; nil, the default, anywhere.
    ///   - body: takes a message to its answer; what it throws fails the operation.
    public init(
        at place: Pipeline.Place? = nil,
        _ body: @escaping @Sendable (TransferRequest, Send) async throws -> NetworkResponse
    ) {
        self.place = place
        self.body = body
    }

    /// With whole answers.
    public func applies(to operation: NetworkOperation) -> Bool { !operation.isStream }

    /// Gives the message to the function, and what it makes of the answer back.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        var last: NetworkOperation.Result?
        let response = try await NetworkError.catching {
            try await body(operation.transfer) { message throws(NetworkError) in
                var operation = operation
                operation.transfer = message
                let result = try await next(operation, emit)
                last = result
                if result.connection != nil { return NetworkResponse(text: "", status: .noContent) }
                guard let response = result.response else { throw .unhandled(operation.kind) }
                return response
            }
        }
        var result = last ?? NetworkOperation.Result(response)
        if result.connection == nil { result.content = .response(response) }
        return result
    }
}
