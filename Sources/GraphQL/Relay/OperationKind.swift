/// The kind of a GraphQL operation.
///
/// (The name is Relay's, seed `000_da437bb786693eb1.txt`.)
public enum OperationKind: String, Sendable, Hashable, Codable, CaseIterable {
    /// Reads data.
    case query
    /// Changes data, then reads it.
    ///
    /// Its root fields run one after another.
    case mutation
    /// Reads data each time an event occurs.
    case subscription
}
