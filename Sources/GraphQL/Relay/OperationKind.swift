/// What an operation does with the server's data. (The word is Relay's, seed `000_da437bb786693eb1.txt`.)
public enum OperationKind: String, Sendable, Hashable, Codable, CaseIterable {
    /// Reads.
    case query
    /// Changes, then reads: its root fields run one after another.
    case mutation
    /// Reads each time something happens.
    case subscription
}
