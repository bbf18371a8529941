/// The HTTP version to request.
///
/// The server may choose another one.
public enum HTTPVersion: String, Sendable, Hashable, CaseIterable {
    /// HTTP/2 over TLS if the server supports it, otherwise HTTP/1.1.
    case automatic
    /// HTTP/1.1 only.
    case http1 = "1.1"
    /// HTTP/2, negotiated over TLS or with prior knowledge over plain TCP (RFC 9113, 3.3).
    case http2 = "2"
    /// HTTP/3 for https, with HTTP/2 and HTTP/1.1 tried in parallel.
    ///
    /// http URLs use `.automatic`, because HTTP/3 requires TLS. The error is `NetworkError.Kind.unsupported` if libcurl
    /// lacks HTTP/3: see `CurlTransport.capabilities`.
    case http3 = "3"
}
