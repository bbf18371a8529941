import BeagleNet
import BeagleNetHTTP

/// The requests that are running, by their content, so that equal ones share a response.
final class RunningRequests: Sendable {
    private typealias Run = Task<Result<NetworkResponse, NetworkError>, Never>

    private let runs = Lock<[JSONValue: Run]>([:])

    /// Joins the running request with the same content, or starts one.
    ///
    /// Cancelling a caller cancels the request of all of them.
    ///
    /// - Parameters:
    ///   - content: The content of the request.
    ///   - send: Sends the request.
    func response(
        to content: JSONValue,
        _ send: @escaping @Sendable () async throws(NetworkError) -> NetworkResponse
    ) async throws(NetworkError) -> NetworkResponse {
        let run = runs.withLock { runs in
            if let run = runs[content] { return run }
            let run = Run {
                let outcome = await Self.outcome(of: send)
                self.end(content)
                return outcome
            }
            runs[content] = run
            return run
        }
        return try await withTaskCancellationHandler {
            await run.value
        } onCancel: {
            run.cancel()
        }.get()
    }

    private static func outcome(
        of send: @Sendable () async throws(NetworkError) -> NetworkResponse
    ) async -> Result<NetworkResponse, NetworkError> {
        do throws(NetworkError) { return .success(try await send()) } catch { return .failure(error) }
    }

    private func end(_ content: JSONValue) { runs.withLock { $0[content] = nil } }
}
