/// How much a transfer may move, in bytes of the body as they go over the wire, per second. nil, the default: as much
/// as there is.
///
/// An average: the transfer rests after it has moved too much, 16 KiB or a second's worth at once when it receives, up to
/// 64 KiB when it sends (https://curl.se/libcurl/c/CURLOPT_MAX_SEND_SPEED_LARGE.html). The system's buffers take their
/// share first. `Timeouts.total` goes on meanwhile.
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
