/// Whether a server is asked for its consent before a body is sent to it (RFC 9110, 10.1.1).
///
/// A server that answers 417 does not know how to consent: the message goes out once more without asking. HTTP/2 sends
/// the body without waiting.
public struct ExpectPolicy: Sendable, Hashable {
    /// The smallest body that is announced, in bytes, 0 and above; one of unknown length always is. nil: none.
    package var threshold: Int64?
    /// How long the consent is waited for.
    package var patience = Duration.seconds(1)

    /// Bodies are sent at once.
    public static let never = ExpectPolicy()

    /// Asks before bodies of at least this size, which saves sending what would be refused, and costs a round trip.
    ///
    /// - Parameters:
    ///   - bytes: the smallest body that is announced, 0 and above. 1 MiB, as with curl.
    ///   - patience: how long the consent is waited for before the body goes out without it: above zero, a day at
    ///     most. 1 s (RFC 9110 bids clients not to wait for ever).
    public static func ask(from bytes: Int64 = 1 << 20, waiting patience: Duration = .seconds(1)) -> ExpectPolicy {
        ExpectPolicy(threshold: bytes, patience: patience)
    }
}
