public import BeagleNetHTTP

/// An interceptor made of one function from a message to its complete response.
///
/// The function may change the message, change the response, or return its own.
///
/// Earlier results bypass it. So do streamed responses and the messages of a subscription, whose end it sees as an
/// empty response. To change all of them, use a `TransformInterceptor`.
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

    /// The interceptor's place, as given to the initializer.
    public let place: Pipeline.Place?
    private let body: @Sendable (TransferRequest, Send) async throws -> NetworkResponse

    /// Creates an interceptor from a function.
    ///
    /// - Parameters:
    ///   - place: The interceptor's place; `nil`, the default, for any place.
    ///   - body: Takes a message to its response. An error that it throws fails the operation.
    public init(
        at place: Pipeline.Place? = nil,
        _ body: @escaping @Sendable (TransferRequest, Send) async throws -> NetworkResponse
    ) {
        self.place = place
        self.body = body
    }

    /// Returns `true` for operations with a complete response.
    public func applies(to operation: NetworkOperation) -> Bool { !operation.isStream }

    /// Calls the function with the message and returns its response.
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
