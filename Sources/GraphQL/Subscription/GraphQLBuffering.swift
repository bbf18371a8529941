/// The handling of results that arrive faster than they are read.
///
/// Each reader has its own buffer, and never blocks the connection, which it may share with others.
///
/// A buffer is full when it reaches its maximum number of results, or `maxBytes` of JSON text. The default of 64 MiB is
/// four times the default of `GraphQLEndpoint.maxMessageBytes`. The buffer always has room for one result, whatever its
/// size.
public enum GraphQLBuffering: Sendable, Hashable {
    /// Ends the subscription with an error of kind `.tooLarge` when the buffer overflows.
    ///
    /// The error follows the buffered results.
    case failing(Int, maxBytes: Int = 64 << 20)
    /// Keeps the newest results.
    ///
    /// When the buffer overflows, the oldest result is dropped, together with connection events before it.
    case newest(Int, maxBytes: Int = 64 << 20)
    /// Keeps the oldest results.
    ///
    /// When the buffer overflows, new results are dropped.
    case oldest(Int, maxBytes: Int = 64 << 20)

    /// The maximum number of results, at least 1.
    var limit: Int {
        switch self {
        case .failing(let limit, _), .newest(let limit, _), .oldest(let limit, _): max(1, limit)
        }
    }

    /// The maximum total size of several results, in bytes.
    var maxBytes: Int {
        switch self {
        case .failing(_, let bytes), .newest(_, let bytes), .oldest(_, let bytes): max(0, bytes)
        }
    }
}
