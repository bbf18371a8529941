import BeagleNet

/// Answers at once, on the caller's thread, so that what is left to measure is what stands above a transport.
struct InstantTransport: HTTPTransport {
    private let response = TransferResponse(head: HTTPResponse(status: .ok), body: HTTPBody("{}"), url: "http://host/")

    /// Those that wait until they are cancelled, by path.
    static let waiting = "/waiting"

    func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken {
        if request.head.path?.hasPrefix(Self.waiting) == true { return Waiting(completion: completion) }
        completion(.success(response))
        return Done()
    }

    func perform(_ request: TransferRequest) async throws(NetworkError) -> TransferResponse {
        guard request.head.path?.hasPrefix(Self.waiting) == true else { return response }
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        for await _ in stream { break }
        withExtendedLifetime(continuation) {}
        throw NetworkError(.cancelled, during: .firstByte, "cancelled")
    }

    private struct Done: RequestToken {
        func cancel() {}
    }

    private struct Waiting: RequestToken {
        let completion: @Sendable (Result<TransferResponse, NetworkError>) -> Void

        func cancel() {
            completion(.failure(NetworkError(.cancelled, during: .firstByte, "cancelled")))
        }
    }
}
