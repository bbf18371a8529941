/// What becomes of results that come faster than they are read. Each reader has a buffer of its own; the connection, which
/// others may share, is never held up.
public enum GraphQLBuffering: Sendable, Hashable {
    /// So many are kept; one more ends the subscription with an error of kind `.tooLarge`, after those that are kept.
    case failing(Int)
    /// So many are kept; then the oldest make room, and what was told of the connection before them.
    case newest(Int)
    /// So many are kept; then those that come are dropped.
    case oldest(Int)

    /// How many are kept, 1 at least.
    var limit: Int {
        switch self {
        case .failing(let limit), .newest(let limit), .oldest(let limit): max(1, limit)
        }
    }
}
