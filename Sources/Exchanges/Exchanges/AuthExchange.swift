#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// Gives operations a header field with a token.
///
/// It belongs to the origin of the operation's URL: a redirect that leads elsewhere leaves it behind, and so does an exchange
/// below. One that chooses the host belongs above this one.
///
/// An operation's `id` is made before that: two of different users who ask the same have the same `id`, and share what is
/// under way or stored. After a change of user call `CacheExchange.clear()` and leave what is listened to, or make a new
/// `Client`; or give the field to the client's request instead, which is in the `id`.
public struct AuthExchange: Exchange {
    private let header: String
    private let getToken: () -> String?

    /// An exchange that adds a header field.
    ///
    /// - Parameters:
    ///   - header: the name of the field; `Authorization` by default.
    ///   - getToken: the field's value, asked for with each operation; nil adds none.
    public init(header: String = "Authorization", getToken: @escaping () -> String?) {
        self.header = header
        self.getToken = getToken
    }

    /// Hooks it into the streams.
    public func register(
        client: any GraphQLClient,
        operations: AnyPublisher<Operation, Never>,
        next: @escaping ExchangeIO
    ) -> AnyPublisher<OperationResult, Never> {
        next(
            operations.map { operation in
                guard operation.kind != .teardown, let token = getToken() else { return operation }
                return operation.setting(header, to: token)
            }
            .eraseToAnyPublisher()
        )
    }
}
