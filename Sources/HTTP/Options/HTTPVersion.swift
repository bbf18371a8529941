/// The HTTP version asked for; the server has the last word.
public enum HTTPVersion: String, Sendable, Hashable, CaseIterable {
    /// HTTP/2 over TLS where the server offers it, else HTTP/1.1.
    case automatic
    /// HTTP/1.1 only.
    case http1 = "1.1"
    /// HTTP/2: negotiated over TLS, with prior knowledge over plain TCP (RFC 9113, 3.3).
    case http2 = "2"
    /// HTTP/3 for https, with HTTP/2 and HTTP/1.1 tried beside it; `.automatic` for http, where there is no HTTP/3.
    /// `NetworkError.Kind.unsupported` where libcurl lacks it: see `CurlTransport.capabilities`.
    case http3 = "3"
}
