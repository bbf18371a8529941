public import BeagleNet
import BeagleNetHTTP

/// Records what any client is asked and what it answers: an entry for each request, as that is all that can be seen from
/// outside. Inside of a `NetworkClientDefault`, `RecordInterceptor` sees each attempt, each redirect, and the text that follows on a
/// document's hash: here that is one entry, with what was asked first and what was answered last.
public struct RecordingClient: NetworkClientWrapper {
    /// What answers.
    public let client: any NetworkClient
    /// Where it is recorded.
    public let log: RequestLog

    /// Records what this client is asked.
    public init(_ client: any NetworkClient, log: RequestLog) {
        self.client = client
        self.log = log
    }

    /// What answers.
    public var wrapped: any NetworkClient { client }

    /// Hands the request on, and records it and its answer.
    @discardableResult
    public func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
        let recorder = begin(request)
        return client.executeRequest(request) { result in
            switch result {
            case .success(let response): recorder.end(response)
            case .failure(let error): recorder.end(error)
            }
            completion(result)
        }
    }

    /// Hands the request on, and records it and its answer.
    public func executeRequest(_ request: Request) async throws(NetworkError) -> NetworkResponse {
        let recorder = begin(request)
        do throws(NetworkError) {
            let response = try await client.executeRequest(request)
            recorder.end(response)
            return response
        } catch {
            recorder.end(error)
            throw error
        }
    }

    /// Hands the request on, and records it and its answer as that is read.
    public func stream(_ request: Request) async throws(NetworkError) -> StreamingResponse {
        let recorder = begin(request)
        do throws(NetworkError) {
            return recorder.receive(try await client.stream(request))
        } catch {
            recorder.end(error)
            throw error
        }
    }

    /// Hands the operation on, and records it and its settled result.
    nonisolated(nonsending) public func run(
        _ operation: NetworkOperation,
        emit: @escaping @Sendable (NetworkOperation.Result) -> Void
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let outcome: Result<NetworkOperation.Result, NetworkError>
        let recorder = recorder(for: operation)
        var transfer = transfer(of: operation.request)
        recorder.begin(&transfer)
        outcome = await .catching { () throws(NetworkError) in try await client.run(operation, emit: emit) }
        return try end(recorder, outcome).get()
    }

    /// Watches an operation, and records each settled result, from when it came: the client doesn't tell when it was asked.
    @discardableResult
    public func watch(
        _ operation: NetworkOperation,
        ownedBy scopes: [OperationScope],
        _ receive: @escaping @Sendable (NetworkOperation.Event) -> Void
    ) -> (any RequestToken)? {
        client.watch(operation, ownedBy: scopes) { event in
            switch event {
            case .result(let result) where result.isSettled: record(.success(result), of: operation)
            case .failure(let error): record(.failure(error), of: operation)
            case .result, .end: break
            }
            receive(event)
        }
    }

    private func record(_ outcome: Result<NetworkOperation.Result, NetworkError>, of operation: NetworkOperation) {
        let recorder = recorder(for: operation)
        var transfer = transfer(of: operation.request)
        recorder.begin(&transfer)
        _ = end(recorder, outcome)
    }

    private func end(
        _ recorder: TransferRecorder,
        _ outcome: Result<NetworkOperation.Result, NetworkError>
    ) -> Result<NetworkOperation.Result, NetworkError> {
        if case .success(let result) = outcome, result.source == .cache, let response = result.response {
            recorder.end(stored: response)
            return outcome
        }
        return recorder.take(outcome, .collect)
    }

    private func begin(_ request: Request) -> TransferRecorder {
        let recorder = recorder(for: NetworkOperation(request))
        var transfer = transfer(of: request)
        // What the client sends is its own: of a streamed body it is not known here what was read.
        recorder.begin(&transfer)
        return recorder
    }

    private func recorder(for operation: NetworkOperation) -> TransferRecorder {
        TransferRecorder(
            log,
            TransferRecorder.Context(
                redactor: container.redactor,
                kind: operation.kind.name,
                operationName: operation.operationName
            )
        )
    }

    /// The message that the client most likely makes of it.
    private func transfer(of request: Request) -> TransferRequest {
        do throws(NetworkError) {
            return try message(of: request)
        } catch {
            // The client says what is wrong with it.
            let url = request.url
            return TransferRequest(
                HTTPRequest(method: .get, scheme: url.scheme, authority: url.host(), path: url.path())
            )
        }
    }
}
