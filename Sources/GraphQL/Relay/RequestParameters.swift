public import BeagleNet

/// Which operation is to be executed, as Relay's compiler knows it. (The words are Relay's, seed
/// `000_da437bb786693eb1.txt`.)
public struct RequestParameters: Sendable, Hashable {
    /// The operation's name.
    public var name: String
    /// What the operation does.
    public var operationKind: OperationKind
    /// The operation's source with all of its fragments; nil where the server knows it by `id`.
    public var text: String?
    /// What the server knows the operation by; nil where it has to be told the text.
    public var id: String?
    /// What stands for the text where answers are stored, as a hash of it; nil where `id` or the text itself does.
    public var cacheID: String?
    /// What the compiler noted about the operation.
    public var metadata: [String: JSONValue]

    /// An operation.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - operationKind: what it does.
    ///   - text: its source with all of its fragments.
    ///   - id: what the server knows it by.
    ///   - cacheID: what stands for the text where answers are stored.
    ///   - metadata: what the compiler noted about it.
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
