/// How long each phase of a transfer may take: above zero. nil: as long as it likes.
public struct Timeouts: Sendable, Hashable {
    /// Resolving the host's name, per hop, as a part of `connect`. nil.
    public var resolve: Duration?
    /// Resolving, connecting and the TLS handshake together, per hop. 30 s.
    public var connect: Duration?
    /// The TLS handshake, per hop, as a part of `connect`. nil. Only where libcurl tells when it begins, as it does over
    /// OpenSSL.
    public var tls: Duration?
    /// From the last piece of the request sent to the end of the response head, per hop. 60 s. Waiting for a streamed
    /// request body does not count.
    public var firstByte: Duration?
    /// Between two reads of the response body. 60 s. A paused stream does not count.
    public var idle: Duration?
    /// The whole transfer with its redirects and its wait for a free connection, from start to the last byte. 300 s, so
    /// that a server that answers a byte at a time comes to an end too. `stream` and `download` of a client lift it
    /// unless told otherwise.
    public var total: Duration?

    /// Timeouts with the documented defaults.
    public init(
        resolve: Duration? = nil,
        connect: Duration? = .seconds(30),
        tls: Duration? = nil,
        firstByte: Duration? = .seconds(60),
        idle: Duration? = .seconds(60),
        total: Duration? = .seconds(300)
    ) {
        self.resolve = resolve
        self.connect = connect
        self.tls = tls
        self.firstByte = firstByte
        self.idle = idle
        self.total = total
    }
}
