/// Where the time of one transfer went, what moved, and over which connection.
///
/// Marks are distances from the start of the hop; a mark is zero when its phase did not take place (a reused
/// connection has no `connect`). Source: https://curl.se/libcurl/c/curl_easy_getinfo.html
public struct TransferMetrics: Sendable, Hashable {
    /// Until the host name was resolved.
    public var nameLookup: Duration = .zero
    /// Until the TCP connection stood.
    public var connect: Duration = .zero
    /// Until the TLS handshake was done.
    public var tlsHandshake: Duration = .zero
    /// Until the request was about to be sent.
    public var requestStart: Duration = .zero
    /// Until the first byte of the response.
    public var firstByte: Duration = .zero
    /// Until the end of the hop.
    public var total: Duration = .zero
    /// Request body bytes sent.
    public var bytesSent: Int64 = 0
    /// Response body bytes received, as they came over the wire.
    public var bytesReceived: Int64 = 0
    /// Response body bytes after decoding.
    public var decodedBytes: Int64 = 0
    /// The protocol spoken: `HTTP/1.1`, `HTTP/2`, `HTTP/3`; empty when none was.
    public var protocolName: String = ""
    /// Whether an open connection was used again.
    public var isConnectionReused = false
    /// The server's address and port, as `127.0.0.1:443` or `[::1]:443`; empty when there was no connection.
    public var remoteAddress: String = ""
    /// Redirects followed before this hop.
    public var redirects = 0
    /// Times that the hop was sent again because its connection proved dead before it answered.
    public var resends = 0

    /// Metrics of a transfer that has not begun.
    public init() {}
}
