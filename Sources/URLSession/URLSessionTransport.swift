public import BeagleNet
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A transport that performs HTTP transfers with `URLSession`, for systems without libcurl or apps that prefer the
/// system's networking.
///
/// To use it, create the client with
/// `NetworkClientDefault(dependencies: dependencies, transport: URLSessionTransport())`.
///
/// The transport has its own connections, without a cache, cookie store or credential store. Redirects follow the same
/// policy as with `CurlTransport`. `URLSession` has these limitations:
///
/// - A response with `Delivery.stream` is delivered when its body is complete, and is held in memory. A response that
///   may never end (server-sent events, or a stream with `isLongLived`) is rejected with `.unsupported`.
/// - A request body from a file or stream is read into memory before it is sent, 256 MiB at most.
/// - `TransferOptions.Timeouts.connect` isn't separate: `firstByte` limits both.
/// - The HTTP version can't be chosen. TLS, proxies, addresses and their guard, codings, authentication, speeds,
///   `expect`, `TransferOptions.Timeouts.resolve` and `TransferOptions.Timeouts.tls` are up to the system. Options that
///   set them are rejected with `.unsupported`, and so are `onInterim` and `keepsRequestHead`.
/// - Header fields lose their order, and fields of the same name are joined. Interim responses and most times of the
///   metrics are missing. `User-Agent`, `Accept` and, on Linux, the `Content-Type` of a POST are added if they are
///   missing.
/// - On Linux, TLS failures are reported as `.other`, because `URLSession` gives no details.
/// - On Linux, the body of a redirect is awaited, and a truncated one is an error. The body of a redirect without a
///   `Location` is lost. A request that must not be sent twice uses a new connection.
/// - On Linux, a server that closes its connection in the middle of a head crashes the process (`FoundationNetworking`,
///   Swift 6.3.1). Use `CurlTransport` with untrusted servers.
public final class URLSessionTransport: HTTPTransport {
    private let session = TransferSession()

    /// Creates a transport with its own connections; transfers in flight finish after it is released.
    public init() {}

    /// Starts a transfer; see `HTTPTransport`.
    ///
    /// `completion` must not block, because all transfers share its queue.
    @discardableResult
    public func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken {
        let transfer = SessionTransfer(request, in: session, completion: completion)
        transfer.begin()
        return transfer
    }
}

extension URLSessionTransport: CookieTransport {
    package var storesCookies: Bool { false }
}
