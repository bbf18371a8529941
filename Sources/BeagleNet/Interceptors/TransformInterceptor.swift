public import BeagleNetHTTP

/// An interceptor with two functions, for example for encryption: one changes requests, and the other changes
/// responses.
///
/// Unlike a `ResponseInterceptor`, it changes all results of an operation: its response, earlier results, the messages
/// of a subscription, and the body of an error response.
///
/// ```swift
/// let encryption = TransformInterceptor { message in
///     if let body = message.body { message.body = HTTPBody(try cipher.seal(try await body.collect())) }
/// } response: { response in
///     response.data = try cipher.open(response.data)
/// }
/// ```
///
/// A streamed response can't be changed as a whole, nor can a GraphQL response that arrives in pieces (`@defer`,
/// `@stream`). Such operations fail before they are sent. Messages on a WebSocket must be JSON before and after the
/// change.
public struct TransformInterceptor: Interceptor {
    /// The interceptor's place, as given to the initializer.
    public let place: Pipeline.Place?
    private let request: @Sendable (inout TransferRequest) async throws -> Void
    private let response: (@Sendable (inout NetworkResponse) throws -> Void)?

    /// Creates an interceptor that changes requests and responses.
    ///
    /// - Parameters:
    ///   - place: The interceptor's place; `nil`, the default, for any place.
    ///   - request: Changes each message before it is sent. An error that it throws fails the operation, and nothing is
    ///     sent.
    ///   - response: Changes all responses. An error that it throws fails and ends the operation. An error response
    ///     whose body can't be changed stays as it is, because it may be another server's. A streamed response fails
    ///     with `.unsupported`. `nil`, the default, to leave responses unchanged.
    public init(
        at place: Pipeline.Place? = nil,
        request: @escaping @Sendable (inout TransferRequest) async throws -> Void,
        response: (@Sendable (inout NetworkResponse) throws -> Void)? = nil
    ) {
        self.place = place
        self.request = request
        self.response = response
    }

    /// Changes the message, continues, and changes the results.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        if response != nil, operation.isStream { throw .streamNotSupported }
        var transfer = operation.transfer
        try await NetworkError.catchingPrerequisite { try await request(&transfer) }
        var changed = operation
        changed.transfer = transfer
        if response == nil { return try await next(changed, emit) }
        let (scope, failure) = (OperationScope(), Lock<NetworkError?>(nil))
        let outcome = await Result<NetworkOperation.Result, NetworkError>.catching { () throws(NetworkError) in
            try await scope.run { [changed] () throws(NetworkError) in
                try await next(changed) { result in
                    if failure.withLock({ $0 != nil }) { return }
                    do throws(NetworkError) {
                        emit(try self.changed(result))
                    } catch {
                        failure.withLock { $0 = error }
                        scope.close()
                    }
                }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        switch outcome {
        case .success(let result): return try self.changed(result)
        case .failure(let error): throw self.changed(error)
        }
    }

    private func changed(_ result: NetworkOperation.Result) throws(NetworkError) -> NetworkOperation.Result {
        guard var answer = result.response, let response else { return result }
        do { try response(&answer) } catch { throw NetworkError(wrapping: error) }
        var result = result
        result.content = .response(answer)
        return result
    }

    private func changed(_ refusal: NetworkError) -> NetworkError {
        guard refusal.kind == .status, refusal.data != nil, var answer = NetworkResponse(telling: refusal), let response
        else { return refusal }
        // The original error says more than the reason why its body can't be changed.
        do { try response(&answer) } catch { return refusal }
        var changed = refusal
        (changed.response, changed.data) = (answer.response, answer.data)
        return changed
    }
}

extension NetworkError {
    fileprivate static let streamNotSupported = NetworkError(
        .unsupported,
        during: .build,
        "an interceptor changes whole responses, but this response is streamed",
        advice: "request the whole response, or change only the request in the interceptor"
    )
}
