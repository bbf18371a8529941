package import BeagleNetDependencies
package import BeagleNetHTTP
import BeagleNetRequestBuilder

extension Outbox {
    /// Stores and sends a message that wasn't built from a request.
    ///
    /// Returns its response, whatever the status.
    ///
    /// - Parameters:
    ///   - transfer: The message.
    ///   - interceptors: The interceptors below the outbox.
    ///   - transport: The transport that sends the message.
    ///   - logger: The logger of the interceptors.
    ///   - reasonNotToStore: The reason not to store the message; `nil`, the default, to store it.
    package func submit(
        _ transfer: TransferRequest,
        _ interceptors: [any Interceptor],
        transport: any HTTPTransport,
        logger: any BeagleLogger,
        reasonNotToStore: String? = nil
    ) async throws(NetworkError) -> StreamingResponse {
        let isOffline = (transport as? any OfflineTransport)?.isOffline ?? false
        var operation = NetworkOperation.of(transfer, kind: .form, logger: logger, isOffline: isOffline)
        operation.reasonNotToStore = reasonNotToStore
        let pipeline = try Pipeline([OutboxInterceptor(self)] + interceptors, transport: transport)
        guard let response = try await pipeline.run(operation, { _ in }).response else { throw .noResponse }
        return StreamingResponse(response)
    }

    /// Gives pending entries a client to send them until `body` has returned.
    package func sending<R>(with client: any NetworkClient, _ body: () async throws -> R) async rethrows -> R {
        let number = attach(client)
        defer { detach(number) }
        return try await body()
    }
}
