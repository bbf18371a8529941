/// How much a transfer may move, in bytes of the body as they go over the wire, per second. nil, the default: as much
/// as there is.
///
/// An average: libcurl rests after it has moved too much
/// (https://curl.se/libcurl/c/CURLOPT_MAX_RECV_SPEED_LARGE.html). `Timeouts.total` goes on meanwhile.
public struct Bandwidth: Sendable, Hashable {
    /// Bytes received per second, 1 and above.
    public var receive: Int?
    /// Bytes sent per second, 1 and above.
    public var send: Int?

    /// A bandwidth that is not limited, or by these numbers.
    public init(receive: Int? = nil, send: Int? = nil) {
        self.receive = receive
        self.send = send
    }
}
