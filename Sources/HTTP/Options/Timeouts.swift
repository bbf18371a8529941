/// How long each phase of a transfer may take. nil: as long as it likes.
public struct Timeouts: Sendable, Hashable {
    /// Resolving, connecting and the TLS handshake together, per hop. 30 s.
    public var connect: Duration?
    /// From the last piece of the request sent to the end of the response head, per hop. 60 s. Waiting for a streamed
    /// request body does not count.
    public var firstByte: Duration?
    /// Between two reads of the response body. 60 s. A paused stream does not count.
    public var idle: Duration?
    /// The whole transfer with its redirects, from start to the last byte. 300 s, so that a server that answers a
    /// byte at a time comes to an end too. `stream` and `download` of a client lift it unless told otherwise.
    public var total: Duration?

    /// Timeouts with the documented defaults.
    public init(
        connect: Duration? = .seconds(30),
        firstByte: Duration? = .seconds(60),
        idle: Duration? = .seconds(60),
        total: Duration? = .seconds(300)
    ) {
        self.connect = connect
        self.firstByte = firstByte
        self.idle = idle
        self.total = total
    }
}
