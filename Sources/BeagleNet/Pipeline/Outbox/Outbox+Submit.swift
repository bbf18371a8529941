package import BeagleNetDependencies
package import BeagleNetHTTP
import BeagleNetRequestBuilder

extension Outbox {
    /// Keeps a message that no request was built to, and gives the answer to it whatever its status.
    ///
    /// - Parameters:
    ///   - transfer: the message.
    ///   - interceptors: what it goes through below the outbox.
    ///   - transport: what sends it.
    ///   - logger: told of what the interceptors do.
    package func submit(
        _ transfer: TransferRequest,
        _ interceptors: [any Interceptor],
        transport: any HTTPTransport,
        logger: any BeagleLogger,
        reasonNotToKeep: String? = nil
    ) async throws(NetworkError) -> StreamingResponse {
        let isOffline = (transport as? any OfflineTransport)?.isOffline ?? false
        var operation = NetworkOperation.of(transfer, kind: .form, logger: logger, isOffline: isOffline)
        operation.reasonNotToKeep = reasonNotToKeep
        let pipeline = try Pipeline([OutboxInterceptor(self)] + interceptors, transport: transport)
        guard let response = try await pipeline.run(operation, { _ in }).response else { throw .noResponse }
        return StreamingResponse(response)
    }

    /// Lets a client send what is before others, until `body` is done.
    package func sending<R>(with client: any NetworkClient, _ body: () async throws -> R) async rethrows -> R {
        let number = attach(client)
        defer { detach(number) }
        return try await body()
    }
}
