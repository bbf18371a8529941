import BeagleNet
import Foundation
import Synchronization

/// Responds immediately, on the caller's thread, so that only the layers above a transport are measured.
final class InstantTransport: HTTPTransport {
    /// The path of requests that are answered when they are cancelled.
    static let waiting = "/waiting"
    /// The path of requests that report progress before the answer.
    static let progress = "/progress"
    /// The number of reports of progress.
    static let events = 1_000

    /// The time of the last cancel.
    static let cancelled = Mutex(Moment(CLOCK_MONOTONIC))

    private let response = TransferResponse(head: HTTPResponse(status: .ok), body: HTTPBody("{}"), url: "http://host/")

    func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken {
        if request.head.path?.hasPrefix(Self.waiting) == true { return Waiting(completion: completion) }
        completion(.success(answer(request)))
        return Done()
    }

    func perform(_ request: TransferRequest) async throws(NetworkError) -> TransferResponse {
        if request.head.path?.hasPrefix(Self.waiting) == true { try await wait() }
        return answer(request)
    }

    /// Never inlined, because it would enlarge the frame of each request.
    @inline(never) private func wait() async throws(NetworkError) {
        let continuation = Mutex<UnsafeContinuation<Void, Never>?>(nil)
        await withTaskCancellationHandler {
            await withUnsafeContinuation { next in continuation.withLock { $0 = next } }
        } onCancel: {
            Self.cancelled.withLock { $0 = Moment(CLOCK_MONOTONIC) }
            continuation.withLock { $0?.resume() }
        }
        throw .cancelledByBenchmark
    }

    private func answer(_ request: TransferRequest) -> TransferResponse {
        guard request.head.path == Self.progress, let report = request.onProgress else { return response }
        for count in 1...Int64(Self.events) {
            report(TransferRequest.Progress(bytesSent: 0, bytesToSend: nil, bytesReceived: count, bytesToReceive: nil))
        }
        return response
    }

    private struct Done: RequestToken {
        func cancel() {}
    }

    private struct Waiting: RequestToken {
        let completion: @Sendable (Result<TransferResponse, NetworkError>) -> Void

        func cancel() {
            InstantTransport.cancelled.withLock { $0 = Moment(CLOCK_MONOTONIC) }
            completion(.failure(.cancelledByBenchmark))
        }
    }
}

extension NetworkError {
    fileprivate static let cancelledByBenchmark = NetworkError(.cancelled, during: .firstByte, "cancelled")
}
