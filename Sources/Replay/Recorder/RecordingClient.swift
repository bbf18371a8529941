public import BeagleNet
import BeagleNetHTTP

/// A wrapper that records the requests and responses of any client, with one entry for each request.
///
/// Only that is visible from outside of a client. Inside of a `NetworkClientDefault`, `RecordInterceptor` sees each
/// attempt and each redirect, and also the full GraphQL document that is sent if the server doesn't know its hash.
/// Here, such a sequence is one entry with the first request and the last response.
public struct RecordingClient: NetworkClientWrapper {
    /// The recorded client.
    public let client: any NetworkClient
    /// The log that receives the entries.
    public let log: RequestLog

    /// Creates a client that records the requests of another client.
    public init(_ client: any NetworkClient, log: RequestLog) {
        self.client = client
        self.log = log
    }

    /// The recorded client.
    public var wrapped: any NetworkClient { client }

    /// Sends the request, and records it and its response.
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

    /// Sends the request, and records it and its response.
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

    /// Sends the request, and records it and its response as the body is read.
    public func stream(_ request: Request) async throws(NetworkError) -> StreamingResponse {
        let recorder = begin(request)
        do throws(NetworkError) {
            return recorder.receive(try await client.stream(request))
        } catch {
            recorder.end(error)
            throw error
        }
    }

    /// Runs the operation, and records it and its settled result.
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

    /// Watches an operation and records each settled result.
    ///
    /// Entries begin at the time of the result, because the client doesn't report when it sent the request.
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
        // The client reads the body itself, so the size of a streamed body is unknown here.
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

    /// Returns the request that the client will most likely send.
    private func transfer(of request: Request) -> TransferRequest {
        do throws(NetworkError) {
            return try message(of: request)
        } catch {
            // The client reports the error.
            let url = request.url
            return TransferRequest(
                HTTPRequest(method: .get, scheme: url.scheme, authority: url.host(), path: url.path())
            )
        }
    }
}
