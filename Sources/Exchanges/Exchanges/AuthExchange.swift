#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// An exchange that adds a token to operations, in a header field.
///
/// The field is scoped to the origin of the operation's URL. It is removed if a redirect or an exchange below leads to
/// another origin. Place an exchange that chooses the host above this one.
///
/// An operation's `id` is computed before the field is added. Identical operations of different users therefore have
/// the same `id`, and share requests in flight and stored results. When the user changes, call `CacheExchange.clear()`
/// and cancel all subscriptions, or create a new `Client`. Alternatively, add the field to the client's request, which
/// is part of the `id`.
public struct AuthExchange: Exchange {
    private let header: String
    private let getToken: () -> String?

    /// Creates an exchange that adds a header field.
    ///
    /// - Parameters:
    ///   - header: The name of the field, `Authorization` by default.
    ///   - getToken: Returns the field's value for each operation, or `nil` to add none.
    public init(header: String = "Authorization", getToken: @escaping () -> String?) {
        self.header = header
        self.getToken = getToken
    }

    /// Connects the exchange to the streams.
    public func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        next(
            operations.map { operation in
                guard operation.kind != .teardown, let token = getToken() else { return operation }
                return operation.settingScopedHeader(header, to: token)
            }
            .eraseToAnyPublisher()
        )
    }
}
