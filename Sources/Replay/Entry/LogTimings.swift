/// Where the time of an exchange went. A phase is nil where it did not take place, as connecting on a connection that was
/// open. Source: HAR 1.2, timings.
public struct LogTimings: Sendable, Hashable {
    /// Waiting for its turn or for a connection.
    public var blocked: Duration?
    /// Resolving the name.
    public var dns: Duration?
    /// Connecting, the TLS handshake included.
    public var connect: Duration?
    /// The TLS handshake.
    public var tls: Duration?
    /// Sending the message.
    public var send: Duration?
    /// Waiting for the answer.
    public var wait: Duration?
    /// Receiving it.
    public var receive: Duration?

    /// Describes where time went.
    public init(
        blocked: Duration? = nil,
        dns: Duration? = nil,
        connect: Duration? = nil,
        tls: Duration? = nil,
        send: Duration? = nil,
        wait: Duration? = nil,
        receive: Duration? = nil
    ) {
        self.blocked = blocked
        self.dns = dns
        self.connect = connect
        self.tls = tls
        self.send = send
        self.wait = wait
        self.receive = receive
    }

    /// The whole time: all phases but `tls`, which is a part of `connect`, or stands for it where that is shorter.
    public var total: Duration {
        let connect = [connect, tls].compactMap(\.self).max()
        return [blocked, dns, connect, send, wait, receive].reduce(.zero) { $0 + ($1 ?? .zero) }
    }
}
