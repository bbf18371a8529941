/// Where the time of one transfer went, what moved, and over which connection.
///
/// Marks are distances from the start of the hop; a mark is zero when its phase did not take place (a reused
/// connection has neither `nameLookup` nor `connect`). Source: https://curl.se/libcurl/c/curl_easy_getinfo.html
public struct TransferMetrics: Sendable, Hashable {
    /// From the call until the transport took the first message up, and waiting for a free connection: before all marks.
    public var queued: Duration = .zero
    /// Until the host name was resolved.
    public var nameLookup: Duration = .zero
    /// Until the TCP connection stood.
    public var connect: Duration = .zero
    /// Until the TLS handshake was done.
    public var tlsHandshake: Duration = .zero
    /// Until the request was about to be sent.
    public var requestStart: Duration = .zero
    /// Until the last byte of the request body was taken to be sent; `requestStart` where there is no body. Zero where
    /// an answer came before.
    public var requestEnd: Duration = .zero
    /// Until the first byte of the response.
    public var firstByte: Duration = .zero
    /// Until the end of the hop.
    public var total: Duration = .zero
    /// Bytes of the request head, as HTTP/1.1 would send it.
    public var headBytesSent: Int64 = 0
    /// Request body bytes sent.
    public var bytesSent: Int64 = 0
    /// Bytes of the response head, of interim ones before it and of trailers, as HTTP/1.1 would send them.
    public var headBytesReceived: Int64 = 0
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
    /// Our port of the connection; 0 where there was none, or the engine does not tell.
    public var localPort = 0
    /// Redirects followed before this hop.
    public var redirects = 0
    /// The hops before this one, oldest first.
    public var hops: [TransferHop] = []
    /// Times that the hop was sent again: its connection proved dead before it answered, or the server does not know
    /// `Expect`.
    public var resends = 0
    /// What not every transfer has; one reference, so that metrics cost little to hand on.
    package var details: Details?

    /// Metrics of a transfer that has not begun.
    public init() {}
}

/// A message of a transfer whose answer led to another message.
public struct TransferHop: Sendable, Hashable {
    /// The method sent.
    public var method: String
    /// The URL as it was sent, secrets included.
    public var url: String
    /// The status of the answer.
    public var status: Int
    /// From the start of the hop to its end.
    public var duration: Duration

    /// Describes a message and its answer.
    public init(method: String, url: String, status: Int, duration: Duration) {
        self.method = method
        self.url = url
        self.status = status
        self.duration = duration
    }
}

extension TransferHop: CustomStringConvertible, CustomReflectable {
    /// Method, URL without its secrets, and status.
    public var description: String { "\(method) \(Redactor().redact(url: url)): \(status)" }

    /// Of the URL no secrets either.
    public var customMirror: Mirror {
        Mirror(self, children: ["hop": description, "duration": duration])
    }
}

extension TransferMetrics {
    /// The version of TLS agreed on, as `TLSv1.3`; empty without TLS, and where the engine does not tell: libcurl does
    /// where it is built with OpenSSL.
    public var tlsVersion: String { details?.tlsVersion ?? "" }
    /// The cipher suite agreed on, as `TLS_AES_256_GCM_SHA384`; empty where `tlsVersion` is.
    public var tlsCipher: String { details?.tlsCipher ?? "" }
    /// The head of the last message as it was sent, where `TransferOptions.keepsRequestHead` asked for it.
    public var requestHead: WireHead? { details?.requestHead }

    /// What not every transfer has.
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
