import BeagleNet

/// A plain middleware chain: four async closures around a transport, as in swift-openapi-runtime's clients. It
/// shares nothing, reports no progress, and returns only the answer.
struct MiddlewareChain: MeasuredClient {
    typealias Send = @Sendable (TransferRequest) async throws -> TransferResponse
    typealias Middleware = @Sendable (TransferRequest, Send) async throws -> TransferResponse

    let name = "middleware chain"
    private let send: Send
    private let samples: [TransferRequest]

    init() throws {
        let transport = InstantTransport()
        let middlewares: [Middleware] = [
            { message, next in try await next(message) },
            { message, next in
                do { return try await next(message) } catch let error as NetworkError where error.isTimeout {
                    return try await next(message)
                }
            },
            { message, next in
                if message.originScopedFields.isEmpty { return try await next(message) }
                var message = message
                message.originScopedFields = []
                return try await next(message)
            },
            { message, next in
                let response = try await next(message)
                if response.status.kind != .successful { throw NetworkError(.status, during: .response, "refused") }
                return response
            },
        ]
        let end: Send = { message in try await transport.perform(message) }
        send = middlewares.reversed().reduce(end) { next, middleware in
            { message in try await middleware(message, next) }
        }
        samples = try Sample.instant.map(Sample.message)
    }

    func count(beside active: Int) -> Int { 20_000 }

    func run(_ index: Int) async throws {
        _ = try await send(samples[index & 63])
    }

    func watch(_ index: Int) {
        start(samples[index & 63]).cancel()
    }

    var progress: (() throws -> Void)? { nil }

    func wait(_ index: Int) throws -> () -> Void {
        let task = start(try Sample.message(Sample.waiting(index)))
        return { task.cancel() }
    }

    private func start(_ message: TransferRequest) -> Task<Void, Never> {
        Task.immediate { [send] in
            // The outcome of a cancelled operation isn't needed.
            _ = try? await send(message)
        }
    }
}
