public import BeagleNetHTTP
import BeagleNetRequestBuilder

/// An interceptor that adds header fields to requests to the app's own origins.
///
/// Use it for fields that change, such as a language or a trace. For constant fields, use
/// `HttpRequestBuilder.additionalHeaders`.
public struct HeadersInterceptor: Interceptor {
    /// The interceptor's place: `.headers`.
    public var place: Pipeline.Place? { .headers }
    private let origins: Set<Origin>?
    private let fields: Fields

    private enum Fields: Sendable {
        case now(@Sendable (NetworkOperation) throws -> HTTPFields)
        case later(@Sendable (NetworkOperation) async throws -> HTTPFields)
    }

    /// Creates an interceptor that adds the fields of a synchronous closure to each attempt, without a task.
    ///
    /// A field that the message already has isn't changed.
    ///
    /// - Parameters:
    ///   - origins: The origins that receive the fields; `nil`, the default, for those that the client's builder
    ///     declares. If it declares none, every origin receives them, but a credential such as `Authorization` fails
    ///     the operation.
    ///   - fields: Returns the fields for an operation. Called on the caller's thread or the transport's. An error that
    ///     it throws fails the operation before anything is sent.
    public init(
        origins: Set<Origin>? = nil,
        _ fields: @escaping @Sendable (NetworkOperation) throws -> HTTPFields
    ) {
        self.origins = origins
        self.fields = .now(fields)
    }

    /// Creates an interceptor that adds the fields of an async closure.
    ///
    /// Each attempt needs a task.
    @_disfavoredOverload
    public init(
        origins: Set<Origin>? = nil,
        _ fields: @escaping @Sendable (NetworkOperation) async throws -> HTTPFields
    ) {
        self.origins = origins
        self.fields = .later(fields)
    }

    /// Returns `true` for operations to the origins that receive the fields.
    public func applies(to operation: NetworkOperation) -> Bool {
        operation.isPermitted(for: origins)
    }

    /// Adds the fields, if they are available without waiting.
    public func begin(_ operation: inout NetworkOperation, next: Next) -> Pipeline.Decision {
        guard case .now(let fields) = fields else { return .wait }
        do throws(NetworkError) {
            let added = try NetworkError.catchingPrerequisite { try fields(operation) }
            try add(added, to: &operation)
            return .proceed(nil)
        } catch {
            return .fail(error)
        }
    }

    /// Adds the fields, and then continues.
    nonisolated(nonsending) public func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let added = try await NetworkError.catchingPrerequisite {
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
