/// The timings, sizes and connection of a transfer.
///
/// Each timing is measured from the start of the hop. It is zero if its phase didn't take place: for example, a reused
/// connection has neither `nameLookup` nor `connect`. Source: https://curl.se/libcurl/c/curl_easy_getinfo.html
public struct TransferMetrics: Sendable, Hashable {
    /// The time before the hop: from the call until the transport started the first request, plus the wait for a free
    /// connection.
    public var queued: Duration = .zero
    /// The time until the host name was resolved.
    public var nameLookup: Duration = .zero
    /// The time until the TCP connection was established.
    public var connect: Duration = .zero
    /// The time until the TLS handshake was complete.
    public var tlsHandshake: Duration = .zero
    /// The time until the request was about to be sent.
    public var requestStart: Duration = .zero
    /// The time until the last byte of the request body was accepted for sending.
    ///
    /// The same as `requestStart` if there is no body, and zero if a response arrived earlier.
    public var requestEnd: Duration = .zero
    /// The time until the first byte of the response was received.
    public var firstByte: Duration = .zero
    /// The time until the end of the hop.
    public var total: Duration = .zero
    /// The size of the request head in bytes, as HTTP/1.1 would send it.
    public var headBytesSent: Int64 = 0
    /// The number of request body bytes sent.
    public var bytesSent: Int64 = 0
    /// The size in bytes of the response head, the interim heads before it and the trailers, as HTTP/1.1 would send
    /// them.
    public var headBytesReceived: Int64 = 0
    /// The number of response body bytes received, before decoding.
    public var bytesReceived: Int64 = 0
    /// The number of response body bytes after decoding.
    public var decodedBytes: Int64 = 0
    /// The protocol: `HTTP/1.1`, `HTTP/2`, `HTTP/3`, or empty if there was no connection.
    public var protocolName: String = ""
    /// Whether an open connection was reused.
    public var isConnectionReused = false
    /// The server's address and port, such as `127.0.0.1:443` or `[::1]:443`, or empty if there was no connection.
    public var remoteAddress: String = ""
    /// The local port of the connection, or 0 if there was no connection or the transport doesn't report it.
    public var localPort = 0
    /// The number of redirects followed before this hop.
    public var redirects = 0
    /// The hops before this one, oldest first.
    public var hops: [Hop] = []
    /// The number of times that the hop was sent again, because its connection turned out to be dead before the
    /// response, or the server doesn't support `Expect`.
    public var resends = 0
    /// Values that many transfers don't have, stored behind one reference to keep metrics cheap to copy.
    package var details: Details?

    /// Creates the metrics of a transfer that hasn't started.
    public init() {}
}

extension TransferMetrics {
    /// A request of a transfer whose response led to another request.
    public struct Hop: Sendable, Hashable {
        /// The method of the request.
        public var method: String
        /// The URL as it was sent, including secrets.
        public var url: String
        /// The status of the response.
        public var status: Int
        /// The duration of the hop.
        public var duration: Duration

        /// Creates a hop.
        public init(method: String, url: String, status: Int, duration: Duration) {
            self.method = method
            self.url = url
            self.status = status
            self.duration = duration
        }
    }
}

extension TransferMetrics.Hop: CustomStringConvertible, CustomReflectable {
    /// The method, the URL without its secrets, and the status.
    public var description: String { "\(method) \(Redactor().redact(url: url)): \(status)" }

    /// A mirror without the secrets of the URL.
    public var customMirror: Mirror {
        Mirror(self, children: ["hop": description, "duration": duration])
    }
}

extension TransferMetrics {
    /// The negotiated TLS version, such as `TLSv1.3`.
    ///
    /// Empty without TLS, or if the transport doesn't report it. libcurl reports it if it is built with OpenSSL.
    public var tlsVersion: String { details?.tlsVersion ?? "" }
    /// The negotiated cipher suite, such as `TLS_AES_256_GCM_SHA384`.
    ///
    /// Empty if `tlsVersion` is.
    public var tlsCipher: String { details?.tlsCipher ?? "" }
    /// The head of the last request as it was sent, if `TransferOptions.keepsRequestHead` is set.
    public var requestHead: WireHead? { details?.requestHead }

    /// Values that many transfers don't have.
    package final class Details: Sendable, Hashable {
        package let tlsVersion: String
        package let tlsCipher: String
        package let requestHead: WireHead?

        package init(tlsVersion: String = "", tlsCipher: String = "", requestHead: WireHead? = nil) {
            self.tlsVersion = tlsVersion
            self.tlsCipher = tlsCipher
            self.requestHead = requestHead
        }

        package static func == (one: Details, other: Details) -> Bool {
            one.tlsVersion == other.tlsVersion && one.tlsCipher == other.tlsCipher
                && one.requestHead == other.requestHead
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(tlsVersion)
            hasher.combine(tlsCipher)
            hasher.combine(requestHead)
        }
    }
}
