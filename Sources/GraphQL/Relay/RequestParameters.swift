public import BeagleNet

/// An operation as described by Relay's compiler.
///
/// (The names are Relay's, seed `000_da437bb786693eb1.txt`.)
public struct RequestParameters: Sendable, Hashable {
    /// The name of the operation.
    public var name: String
    /// The kind of operation.
    public var operationKind: OperationKind
    /// The operation's source text with all of its fragments; `nil` if the server knows it by `id`.
    public var text: String?
    /// The ID by which the server knows the operation; `nil` if the text must be sent.
    public var id: String?
    /// The cache key of the operation, such as a hash of its text; `nil` to use `id` or the text itself.
    public var cacheID: String?
    /// The compiler's notes about the operation.
    public var metadata: [String: JSONValue]

    /// Creates the parameters of an operation.
    ///
    /// - Parameters:
    ///   - name: The name of the operation.
    ///   - operationKind: The kind of operation.
    ///   - text: The source text with all of its fragments.
    ///   - id: The ID by which the server knows the operation.
    ///   - cacheID: The cache key of the operation.
    ///   - metadata: The compiler's notes about the operation.
    public init(
        name: String,
        operationKind: OperationKind,
        text: String? = nil,
        id: String? = nil,
        cacheID: String? = nil,
        metadata: [String: JSONValue] = [:]
    ) {
        self.name = name
        self.operationKind = operationKind
        self.text = text
        self.id = id
        self.cacheID = cacheID
        self.metadata = metadata
    }
}
