package import BeagleNet

/// A transport that a test scripts. By default it completes requests on another thread.
package final class ScriptedTransport: CookieTransport {
    package typealias Completion = @Sendable (Result<TransferResponse, NetworkError>) -> Void

    /// The requests received, in order.
    package let requests = Lock<[TransferRequest]>([])
    /// The number of times that a token was cancelled.
    package let cancels = Lock(0)
    private let script: @Sendable (TransferRequest, @escaping Completion) -> Void
    private let onCancel: @Sendable () -> Void
    package let storesCookies = false

    /// Passes each request and its completion to `script`, inside `perform`.
    package init(
        onCancel: @escaping @Sendable () -> Void = {},
        script: @escaping @Sendable (TransferRequest, @escaping Completion) -> Void
    ) {
        self.onCancel = onCancel
        self.script = script
    }

    /// Completes each request on another thread.
    package convenience init(answer: @escaping @Sendable (TransferRequest) -> Result<TransferResponse, NetworkError>) {
        self.init { request, completion in
            Task.detached { completion(answer(request)) }
        }
    }

    /// Completes each request with this status and body.
    package convenience init(status: HTTPResponse.Status = .ok, _ body: String = "", _ fields: HTTPFields = [:]) {
        self.init { request in
            .success(
                TransferResponse(
                    head: HTTPResponse(status: status, headerFields: fields),
                    body: HTTPBody(body),
                    url: request.head.urlText
                )
            )
        }
    }

    package func perform(_ request: TransferRequest, completion: @escaping Completion) -> any RequestToken {
        requests.withLock { $0.append(request) }
        script(request, completion)
        return AnyRequestToken {
            self.cancels.withLock { $0 += 1 }
            self.onCancel()
        }
    }
}

/// Holds one completion until the test calls it.
package final class HeldCompletion: Sendable {
    private let completion = Lock<ScriptedTransport.Completion?>(nil)
    private let arrivals = AsyncStream.makeStream(of: Void.self)

    package init() {}

    /// A transport whose completion is held here, and called with an error when the request is cancelled.
    package func cancellableTransport() -> ScriptedTransport {
        transport { self.complete(.failure(.cancelled)) }
    }

    /// A transport whose completion is held here.
    package func transport(onCancel: @escaping @Sendable () -> Void = {}) -> ScriptedTransport {
        ScriptedTransport(onCancel: onCancel) { _, completion in
            self.completion.withLock { $0 = completion }
            self.arrivals.continuation.yield()
        }
    }

    /// Waits until a completion is held.
    package func isHeld() async {
        for await _ in arrivals.stream { break }
    }

    /// Calls the completion and keeps it.
    package func complete(_ result: Result<TransferResponse, NetworkError>) {
        completion.withLock { $0 }?(result)
    }

    /// Releases the completion without calling it.
    package func drop() {
        let dropped = completion.withLock { completion in
            defer { completion = nil }
            return completion
        }
        withExtendedLifetime(dropped) {}
    }
}

extension NetworkError {
    package static let cancelled = NetworkError(.cancelled, during: .firstByte, "the request was cancelled")
}
