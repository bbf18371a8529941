public import BeagleNetGraphQL
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// A network for Relay that is there already: operations go where `GraphQLEndpoint` says, through the client's own
/// pipeline, and everything that `CacheConfig` says acts.
///
/// ```swift
/// var network = RelayNetwork(client: dependencies.networkClient, at: GraphQLEndpoint("https://example.org/graphql"))
/// network.cache = RelayResponseCache(size: 250, ttl: .seconds(60))
/// ```
///
/// - Queries that ask the same at the same time share one request.
/// - What the server says went wrong is part of the answer, for Relay to read, also where it says so with a status of
///   refusal; `"data":null`, `"errors":null` and `"extensions":null` are left out. The publisher fails, with a
///   `NetworkError`, where there is no answer of GraphQL's.
/// - An operation with text is sent as `GraphQLEndpoint.documents` says. One that has only an id is sent by it: where
///   text is asked for, as `documentId`.
/// - A subscription goes as `GraphQLEndpoint.subscriptions` says, and gives each result as an answer of its own, until the
///   server ends it; cancelling tells the server. A lost connection is followed by another. Where the server refuses it,
///   that is its only answer, with `errors`. Of results that nobody wants yet 4,096 are kept, and no more than 64 MiB of
///   several; then the oldest make room, and the logger of the client's container is told once for each subscriber.
///
/// It is cold, and gives as much as is wanted, on any thread; see `ClientPublisher`.
public struct RelayNetwork: Network, Sendable {
    /// How an answer that comes in pieces is given, as `@defer` and `@stream` ask for it.
    ///
    /// What is put together here loses the last digits of whole numbers beyond 64 bits; an answer that comes whole is given as it
    /// came.
    public enum Pieces: Sendable, Hashable {
        /// Each time the whole answer so far, which is what Relay.swift reads. Pieces that have come together are given
        /// together.
        case merged
        /// Each piece by itself, as Relay's runtime reads it: with its `label` and `path`, and `extensions.is_final`. A fragment that
        /// the server announced is given when it is complete, with all that is there.
        ///
        /// None makes room for another: all that nobody wants yet are kept.
        case patches
    }

    /// Who performs operations.
    public var client: any NetworkClient
    /// Where they go; nil takes the `graphQLEndpoint` of the client's container.
    public var endpoint: GraphQLEndpoint?
    /// Where answers to queries are stored that have no errors; nil, the default, stores none. `CacheConfig.force` passes it
    /// by, and a mutation clears it, whatever came of it: a query that was under way then is not stored.
    ///
    /// Nobody is given what was fetched for somebody else by an `AuthInterceptor` of the client's container, or with other header
    /// fields of the endpoint, and networks may share one for several endpoints. Where credentials come another way, as from an
    /// interceptor of the app's own, `clear()` it when another person signs in.
    public var cache: RelayResponseCache?
    /// The name of a header field that tells the server the transaction's id, subscriptions apart; nil, the default, sends none. Queries with
    /// different ids don't share a request then.
    public var transactionField: String?
    /// How answers are given that come in pieces. An operation that has only an id is not asked for in pieces.
    public var pieces = Pieces.merged

    /// A network.
    ///
    /// - Parameters:
    ///   - client: who performs operations.
    ///   - endpoint: where they go; nil takes the one of the client's container.
    public init(client: any NetworkClient, at endpoint: GraphQLEndpoint? = nil) {
        self.client = client
        self.endpoint = endpoint
    }

    /// Executes an operation.
    ///
    /// With `CacheConfig.poll` it is executed again so many seconds after each answer, by the clock of the client's
    /// container and past stored answers, until an error ends it or nobody listens any more. A subscription cannot be
    /// polled.
    public func execute(
        request: RequestParameters,
        variables: VariableData,
        cacheConfig: CacheConfig
    ) -> AnyPublisher<Data, any Error> {
        execute(request: request, variables: variables, cacheConfig: cacheConfig, uploadables: [:])
    }

    /// Executes an operation with files, which are sent as a form of several parts (GraphQL multipart request
    /// specification); it cannot be polled. A subscription has none.
    ///
    /// - Parameters:
    ///   - request: which operation.
    ///   - variables: its variables.
    ///   - cacheConfig: how stored answers are treated.
    ///   - uploadables: the files, by where they belong among the variables, as `photo` or `input.photos.0`.
    public func execute(
        request: RequestParameters,
        variables: VariableData,
        cacheConfig: CacheConfig,
        uploadables: [String: FormFile]
    ) -> AnyPublisher<Data, any Error> {
        let execution = RelayExecution(request: request, cacheConfig: cacheConfig)
        let limit = limit(of: request.operationKind)
        return ClientPublisher<Data>(
            keeping: limit,
            bytes: limit.map { _ in Self.byteLimit },
            onDrop: { [client] in client.logDroppedResults(of: request.name) }
        ) { emit throws(NetworkError) in
            try await RelayRun(execution, variables, uploadables, by: self).run(emit)
        }
        .mapError { $0 as any Error }
        .eraseToAnyPublisher()
    }

    /// As much as a `GraphQLBuffering` keeps.
    private static let byteLimit = ByteLimit<Data>(limit: 64 << 20) { $0.count }

    /// How many answers are kept that nobody wants yet; nil for all.
    private func limit(of kind: OperationKind) -> Int? {
        if kind == .subscription { return 4096 }
        return pieces == .patches ? nil : 64
    }
}
