public import BeagleNet
import BeagleNetHTTP

/// What an answer to a query will probably be when a mutation is done; see `DocumentCache`. It is made of the stored answer as a
/// `JSONValue`: whole numbers beyond 64 bits lose their last digits in it.
///
/// ```swift
/// let liked = try GraphQLExpectation(of: .fetchPost(withID: "1"), on: client) { data in data["post"]?["likes"] = 8 }
/// try await client.perform(like) { $0.expectations = [liked] }
/// ```
public struct GraphQLExpectation: Sendable {
    private let message: TransferRequest
    private let change: @Sendable (inout JSONValue) -> Void

    /// An expectation about a query that has been answered.
    ///
    /// - Parameters:
    ///   - query: whose answer it is about.
    ///   - client: who asks it.
    ///   - endpoint: where; the container's `graphQLEndpoint` where nil.
    ///   - change: makes of the data that is stored what it will be.
    /// - Throws: `NetworkError` where the query cannot be sent.
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

    /// Whether an operation asks what this is about.
    func isMeant(_ operation: NetworkOperation) -> Bool {
        let (one, other) = (operation.asked, message)
        return one.head.method == other.head.method && one.head.authority == other.head.authority
            && one.head.path == other.head.path && one.body?.data == other.body?.data
    }

    /// The answer as it will be; nil where what is stored cannot be read.
    func changed(_ response: NetworkResponse) -> NetworkResponse? {
        do throws(NetworkError) {
            var answer = try response.json()
            change(&answer["data", default: .null])
            var response = response
            response.data = try answer.data()
            return response
        } catch {
            return nil
        }
    }
}

extension NetworkOperation {
    private enum ExpectationsKey: ContextKey { static let defaultValue: [GraphQLExpectation] = [] }
    private enum ChangedTypesKey: ContextKey { static let defaultValue: Set<String> = [] }

    /// What the answers to queries will probably be when this mutation is done; none by default. A `DocumentCache` heeds it.
    public var expectations: [GraphQLExpectation] {
        get { context[ExpectationsKey.self] }
        set { context[ExpectationsKey.self] = newValue }
    }

    /// Types whose objects this mutation changes though its answer has none of them, as those of a list that grows; none by
    /// default. A `DocumentCache` heeds it.
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
