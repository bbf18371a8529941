public import BeagleNetHTTP
import BeagleNetRequestBuilder

/// Adds header fields to operations that go to the app's own origins: what changes from time to time, as a language or
/// a trace. What never changes is said with `HttpRequestBuilder.additionalHeaders`.
public struct HeadersInterceptor: Interceptor {
    /// `.headers`.
    public var place: Pipeline.Place? { .headers }
    private let origins: Set<Origin>?
    private let fields: @Sendable (NetworkOperation) async throws -> HTTPFields

    /// Adds what `fields` gives for each attempt. A field that the message has already stays as it is.
    ///
    /// - Parameters:
    ///   - origins: who gets the fields; nil, the default, for the origins that the client's builder declares. Where it
    ///     declares none, every origin gets them, and a credential among them, as `Authorization`, fails the operation.
    ///   - fields: the fields for an operation; what it throws fails the operation before anything is sent.
    public init(
        origins: Set<Origin>? = nil,
        _ fields: @escaping @Sendable (NetworkOperation) async throws -> HTTPFields
    ) {
        self.origins = origins
        self.fields = fields
    }

    /// With operations to the origins that get the fields.
    public func applies(to operation: NetworkOperation) -> Bool {
        operation.isMeant(for: origins)
    }

    /// Adds the fields, then goes on.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let added = try await NetworkError.asideCatching { try await fields(operation) }
        var operation = operation
        let present = operation.transfer.head.headerFields
        let isUndeclared = operation.hasUndeclaredOrigins(origins)
        for field in added where !present.contains(field.name) {
            if isUndeclared, operation.redactor.isSecret(header: field.name.rawName) {
                throw .undeclaredOrigins("a HeadersInterceptor has the credential \(field.name.rawName)")
            }
            operation.transfer.head.headerFields.append(field)
            operation.scope([field.name])
        }
        return try await next(operation, emit)
    }
}
