/// What becomes of results that come faster than they are read. Each reader has a buffer of its own; the connection, which
/// others may share, is never held up.
///
/// A buffer is full with so many results, or with as many bytes (`maxBytes`, of their text as JSON), whichever comes first:
/// 64 MiB by default, which is four of the largest results that `GraphQLEndpoint.maxMessageBytes` lets come. One result is
/// kept whatever its size.
public enum GraphQLBuffering: Sendable, Hashable {
    /// So many are kept; one more ends the subscription with an error of kind `.tooLarge`, after those that are kept.
    case failing(Int, maxBytes: Int = 64 << 20)
    /// So many are kept; then the oldest make room, and what was told of the connection before them.
    case newest(Int, maxBytes: Int = 64 << 20)
    /// So many are kept; then those that come are dropped.
    case oldest(Int, maxBytes: Int = 64 << 20)

    /// How many are kept, 1 at least.
    var limit: Int {
        switch self {
        case .failing(let limit, _), .newest(let limit, _), .oldest(let limit, _): max(1, limit)
        }
    }

    /// How many bytes they may have together, where there is more than one.
    var maxBytes: Int {
        switch self {
        case .failing(_, let bytes), .newest(_, let bytes), .oldest(_, let bytes): max(0, bytes)
        }
    }
}
