public import BeagleNet
import BeagleNetHTTP

extension DocumentCache {
    /// An expected response to a query after a mutation, for optimistic updates; see `DocumentCache`.
    ///
    /// It is derived from the stored response as a `JSONValue`, in which integers beyond 64 bits lose their last
    /// digits.
    ///
    /// ```swift
    /// let liked = try DocumentCache.OptimisticUpdate(of: .fetchPost(withID: "1"), on: client) { data in
    /// data["post"]?["likes"] = 8 }
    /// try await client.perform(like) { $0.optimisticUpdates = [liked] }
    /// ```
    public struct OptimisticUpdate: Sendable {
        private let message: TransferRequest
        private let change: @Sendable (inout JSONValue) -> Void

        /// Creates an optimistic update for a query with a stored response.
        ///
        /// - Parameters:
        ///   - query: The query.
        ///   - client: The client that performs the query.
        ///   - endpoint: The endpoint, or `nil` for the container's `graphQLEndpoint`.
        ///   - change: Changes the stored data to the expected data.
        /// - Throws: `NetworkError` if the query can't be sent.
        public init<Input: Encodable, Output: Decodable>(
            of query: GraphQLOperation<Input, Output>,
            on client: any NetworkClient,
            at endpoint: GraphQLEndpoint? = nil,
            _ change: @escaping @Sendable (_ data: inout JSONValue) -> Void
        ) throws(NetworkError) {
            let prepared = try PreparedOperation(query, at: endpoint, in: client.container)
            let operation = try client.networkOperation(for: prepared.request, at: prepared.endpoint, prepared.document)
            message = try client.message(of: operation.request)
            self.change = change
        }

        /// Returns whether an operation is the query of this optimistic update.
        func matches(_ operation: NetworkOperation) -> Bool {
            let (one, other) = (operation.firstMessage, message)
            return one.head.method == other.head.method && one.head.authority == other.head.authority
                && one.head.path == other.head.path && one.body?.data == other.body?.data
        }

        /// Returns the expected response, or `nil` if the stored response can't be read.
        func applied(to response: NetworkResponse) -> NetworkResponse? {
            do throws(NetworkError) {
                var json = try response.json()
                change(&json["data", default: .null])
                var response = response
                response.data = try json.data()
                return response
            } catch {
                return nil
            }
        }
    }
}

extension NetworkOperation {
    private enum OptimisticUpdatesKey: ContextKey { static let defaultValue: [DocumentCache.OptimisticUpdate] = [] }
    private enum ChangedTypesKey: ContextKey { static let defaultValue: Set<String> = [] }

    /// The expected query responses after this mutation; empty by default.
    ///
    /// A `DocumentCache` uses them.
    public var optimisticUpdates: [DocumentCache.OptimisticUpdate] {
        get { context[OptimisticUpdatesKey.self] }
        set { context[OptimisticUpdatesKey.self] = newValue }
    }

    /// Types whose objects this mutation changes although its response doesn't contain them, such as those of a growing
    /// list; empty by default.
    ///
    /// A `DocumentCache` uses them.
    public var changedTypes: Set<String> {
        get { context[ChangedTypesKey.self] }
        set { context[ChangedTypesKey.self] = newValue }
    }
}

extension JSONValue {
    fileprivate subscript(name: String, default value: JSONValue) -> JSONValue {
        get { self[name] ?? value }
        set { self[name] = newValue }
    }
}
