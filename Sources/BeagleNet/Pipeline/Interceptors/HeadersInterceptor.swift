public import BeagleNetHTTP
import BeagleNetRequestBuilder

/// Adds header fields to operations that go to the app's own origins: what changes from time to time, as a language or
/// a trace. What never changes is said with `HttpRequestBuilder.additionalHeaders`.
public struct HeadersInterceptor: Interceptor {
    /// `.headers`.
    public var place: Pipeline.Place? { .headers }
    private let origins: Set<Origin>?
    private let fields: Fields

    private enum Fields: Sendable {
        case now(@Sendable (NetworkOperation) throws -> HTTPFields)
        case later(@Sendable (NetworkOperation) async throws -> HTTPFields)
    }

    /// Adds the fields that `fields` returns for each attempt, without a task. A field that the message has already stays as
    /// it is.
    ///
    /// - Parameters:
    ///   - origins: the origins that receive the fields; `nil`, the default, for those that the client's builder declares. If it
    ///     declares none, every origin gets them, and a credential among them, as `Authorization`, fails the operation.
    ///   - fields: the fields for an operation, called on the caller's thread or the transport's; what it throws fails the
    ///     operation before anything is sent.
    public init(
        origins: Set<Origin>? = nil,
        _ fields: @escaping @Sendable (NetworkOperation) throws -> HTTPFields
    ) {
        self.origins = origins
        self.fields = .now(fields)
    }

    /// The same for fields that must be waited for: each attempt has a task.
    @_disfavoredOverload
    public init(
        origins: Set<Origin>? = nil,
        _ fields: @escaping @Sendable (NetworkOperation) async throws -> HTTPFields
    ) {
        self.origins = origins
        self.fields = .later(fields)
    }

    /// With operations to the origins that get the fields.
    public func applies(to operation: NetworkOperation) -> Bool {
        operation.isMeant(for: origins)
    }

    /// Adds the fields, if they need not be waited for.
    public func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision {
        guard case .now(let fields) = fields else { return .wait }
        do throws(NetworkError) {
            let added = try NetworkError.asideCatching { try fields(operation) }
            try add(added, to: &operation)
            return .proceed(nil)
        } catch {
            return .fail(error)
        }
    }

    /// Adds the fields, then goes on.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let added = try await NetworkError.asideCatching {
            switch fields {
            case .now(let fields): try fields(operation)
            case .later(let fields): try await fields(operation)
            }
        }
        var operation = operation
        try add(added, to: &operation)
        return try await next(operation, emit)
    }

    private func add(_ added: HTTPFields, to operation: inout NetworkOperation) throws(NetworkError) {
        let present = operation.transfer.head.headerFields
        let isUndeclared = operation.hasUndeclaredOrigins(origins)
        for field in added where !present.contains(field.name) {
            if isUndeclared, operation.redactor.isSecret(header: field.name.rawName) {
                throw .undeclaredOrigins("a HeadersInterceptor has the credential \(field.name.rawName)")
            }
            operation.transfer.head.headerFields.append(field)
            operation.scope([field.name])
        }
    }
}
