public import BeagleNetHTTP
public import BeagleNetRequestBuilder

/// A client that responds to requests with a closure, for previews and tests.
///
/// ```swift
/// StubClient { request in try NetworkResponse(json: ["title": "Hello"]) }
/// ```
///
/// As with any client, a status outside 200...299 becomes a failure of kind `.status`.
public struct StubClient: NetworkClient {
    private let respond: @Sendable (Request) async throws -> NetworkResponse

    /// Creates a client that responds to each request with the result of `respond`, in a task that the request's token
    /// cancels.
    ///
    /// A response without a URL gets the request's URL.
    public init(_ respond: @escaping @Sendable (Request) async throws -> NetworkResponse) {
        self.respond = respond
    }

    /// Responds to the request in a new task.
    @discardableResult
    public func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
        AnyRequestToken(
            Task {
                do {
                    var response = try await respond(request)
                    if response.url.isEmpty { response.url = request.url.absoluteString }
                    try Task.checkCancellation()
                    completion(response.result())
                } catch {
                    completion(.failure(NetworkError(wrapping: Task.isCancelled ? CancellationError() : error)))
                }
            }
        )
    }
}
