public import BeagleNetGraphQL
#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// A ready-made network layer for Relay, which sends operations to a `GraphQLEndpoint` through the client's own
/// pipeline and supports all of `CacheConfig`.
///
/// ```swift
/// var network = RelayNetwork(client: dependencies.networkClient, at: GraphQLEndpoint("https://example.org/graphql"))
/// network.cache = RelayResponseCache(size: 250, ttl: .seconds(60))
/// ```
///
/// - Identical queries at the same time share one request.
/// - GraphQL errors are part of the response, for Relay to read, even if the server sends them with an error status.
///   `"data":null`, `"errors":null` and `"extensions":null` are removed. The publisher fails with a `NetworkError` if
///   there is no GraphQL response.
/// - An operation with text is sent as set in `GraphQLEndpoint.documentStyle`. An operation that has only an id is sent
///   by its id, as `documentId` if the setting is `.text` or `.automatic`.
/// - A subscription uses the protocol of `GraphQLEndpoint.subscriptions` and delivers each result as a separate
///   response until the server ends it. Cancelling it notifies the server. A lost connection is replaced by a new one.
///   If the server rejects the subscription, its only response contains the `errors`. Up to 4,096 results and 64 MiB
///   are buffered if the subscriber hasn't requested them yet. After that the oldest are dropped, and the container's
///   logger receives a warning, once per subscriber. A single result is kept whatever its size.
///
/// The publishers are cold, respect the subscriber's demand and deliver values on any thread; see `ClientPublisher`.
public struct RelayNetwork: Network, Sendable {
    /// The form in which incremental responses are delivered (`@defer` and `@stream`).
    ///
    /// Integers beyond 64 bits lose their last digits when pieces are merged. A response in one piece is not
    /// affected.
    public enum IncrementalDelivery: Sendable, Hashable {
        /// Delivers the whole response so far with each update, which is the form that Relay.swift reads.
        ///
        /// Parts that arrive together are delivered together.
        case merged
        /// Delivers each piece separately, in the form that Relay's runtime reads: with its `label` and `path`, and
        /// `extensions.is_final`.
        ///
        /// A fragment that the server has announced is delivered when it is complete. No pieces are dropped: all that
        /// the subscriber hasn't requested yet are buffered.
        case patches
    }

    /// The client that performs operations.
    public var client: any NetworkClient
    /// The endpoint of the operations; `nil` uses the `graphQLEndpoint` of the client's container.
    public var endpoint: GraphQLEndpoint?
    /// The store for responses to queries without errors; `nil`, the default, stores no responses.
    ///
    /// `CacheConfig.force` bypasses it. A mutation clears it, even if the mutation fails, and queries that were in
    /// flight at that time aren't stored.
    ///
    /// Responses are separated by the user of an `AuthInterceptor` of the client's container, and by the endpoint and
    /// its header fields. Several networks may share one store for several endpoints. If credentials are added in
    /// another way, such as by an interceptor of the app, `clear()` the store when another user signs in.
    public var cache: RelayResponseCache?
    /// The name of a header field with the transaction's id; `nil`, the default, doesn't send the id.
    ///
    /// The field isn't sent for subscriptions. Queries with different ids don't share a request if the name is set.
    public var transactionField: String?
    /// The form in which incremental responses are delivered; an operation that has only an id doesn't use incremental
    /// delivery.
    public var incrementalDelivery = IncrementalDelivery.merged

    /// Creates a network layer.
    ///
    /// - Parameters:
    ///   - client: The client that performs operations.
    ///   - endpoint: The endpoint of the operations; `nil` uses the one of the client's container.
    public init(client: any NetworkClient, at endpoint: GraphQLEndpoint? = nil) {
        self.client = client
        self.endpoint = endpoint
    }

    /// Executes an operation.
    ///
    /// With `CacheConfig.poll` the operation is executed again that many seconds after each response, measured by the
    /// clock of the client's container and bypassing stored responses. Polling ends with an error or when the
    /// subscription is cancelled. A GraphQL subscription can't be polled.
    public func execute(
        request: RequestParameters,
        variables: VariableData,
        cacheConfig: CacheConfig
    ) -> AnyPublisher<Data, any Error> {
        execute(request: request, variables: variables, cacheConfig: cacheConfig, uploadables: [:])
    }

    /// Executes an operation with files, which are sent as a multipart form (GraphQL multipart request specification).
    ///
    /// An operation with files can't be polled. A subscription can't have files.
    ///
    /// - Parameters:
    ///   - request: The operation to execute.
    ///   - variables: The variables of the operation.
    ///   - cacheConfig: The use of stored responses.
    ///   - uploadables: The files, by their path in the variables, such as `photo` or `input.photos.0`.
    public func execute(
        request: RequestParameters,
        variables: VariableData,
        cacheConfig: CacheConfig,
        uploadables: [String: FormFile]
    ) -> AnyPublisher<Data, any Error> {
        let execution = NetworkOperation.RelayExecution(request: request, cacheConfig: cacheConfig)
        let limit = limit(of: request.operationKind)
        return ClientPublisher<Data>(
            bufferLimit: limit,
            bytes: limit.map { _ in Self.byteLimit },
            onDrop: { [client] in client.logDroppedResults(of: request.name) }
        ) { emit throws(NetworkError) in
            try await RelayRun(execution, variables, uploadables, by: self).run(emit)
        }
        .mapError { $0 as any Error }
        .eraseToAnyPublisher()
    }

    /// The same size as a `GraphQLBuffering`.
    private static let byteLimit = ByteLimit<Data>(limit: 64 << 20) { $0.count }

    /// Returns the maximum number of buffered responses; `nil` for no limit.
    private func limit(of kind: OperationKind) -> Int? {
        if kind == .subscription { return 4096 }
        return incrementalDelivery == .patches ? nil : 64
    }
}
