public import BeagleNetHTTP

/// An interceptor of two functions, of which one changes what is sent and the other what is answered, as encryption does.
///
/// Unlike what passes a `ResponseInterceptor`, that is all that an operation gives: its answer, results on the way, the
/// messages of a subscription, and the body of a refusal.
///
/// ```swift
/// let encryption = TransformInterceptor { message in
///     if let body = message.body { message.body = HTTPBody(try cipher.seal(try await body.collect())) }
/// } response: { response in
///     response.data = try cipher.open(response.data)
/// }
/// ```
///
/// A streamed answer cannot be changed as a whole, nor can that of a GraphQL operation whose answer comes in pieces (`@defer`,
/// `@stream`): they fail before they are sent. What a WebSocket carries is JSON before and after.
public struct TransformInterceptor: Interceptor {
    /// Where it was said to belong.
    public let place: Pipeline.Place?
    private let request: @Sendable (inout TransferRequest) async throws -> Void
    private let response: (@Sendable (inout NetworkResponse) throws -> Void)?

    /// An interceptor that changes messages and answers.
    ///
    /// - Parameters:
    ///   - place: where it belongs; nil, the default, anywhere.
    ///   - request: changes each message before it is sent; what it throws fails the operation, of which nothing was sent.
    ///   - response: changes all that is answered; what it throws fails the operation and ends it. The body of a refusal that
    ///     it cannot change stays as it is: it may be another server's. What is streamed fails with `.unsupported`. nil, the
    ///     default, for answers that stay as they are.
    public init(
        at place: Pipeline.Place? = nil,
        request: @escaping @Sendable (inout TransferRequest) async throws -> Void,
        response: (@Sendable (inout NetworkResponse) throws -> Void)? = nil
    ) {
        self.place = place
        self.request = request
        self.response = response
    }

    /// Changes the message, goes on, and changes what comes of it.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        if response != nil, operation.isStream { throw .streamToChange }
        var transfer = operation.transfer
        try await NetworkError.asideCatching { try await request(&transfer) }
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
        // What it was refused with says more than why that cannot be read.
        do { try response(&answer) } catch { return refusal }
        var changed = refusal
        (changed.response, changed.data) = (answer.response, answer.data)
        return changed
    }
}

extension NetworkError {
    fileprivate static let streamToChange = NetworkError(
        .unsupported,
        during: .build,
        "an interceptor changes whole responses, but this response is streamed",
        advice: "request the whole response, or change only the request in the interceptor"
    )
}
