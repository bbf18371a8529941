public import BeagleNet
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Performs HTTP transfers with `URLSession`, for where libcurl is missing or the system's own networking is wanted:
/// `NetworkClientDefault(dependencies: dependencies, transport: URLSessionTransport())`.
///
/// Connections are its own; there is no cache, no cookie store and no store of credentials. Redirects follow the same
/// policy as with `CurlTransport`. What `URLSession` cannot do:
///
/// - An answer with `Delivery.stream` is handed over when its body is whole, and holds it in memory; one that may have no
///   end, as a stream of server-sent events or with `isLongLived`, is refused with `.unsupported`.
/// - A request body of a file or stream is read into memory before it is sent, 256 MiB at most.
/// - `Timeouts.connect` is not told from `firstByte`, which limits both.
/// - The HTTP version cannot be asked for, and TLS, proxies, addresses with their guard, codings, authentication, speeds,
///   `expect`, `Timeouts.resolve` and `Timeouts.tls` are the system's: options that say otherwise are refused with
///   `.unsupported`, as are `onInterim` and `keepsRequestHead`.
/// - Fields lose their order, and fields of one name become one; interim responses and most marks of the metrics are
///   missing. `User-Agent`, `Accept` and, on Linux, the `Content-Type` of a POST are filled in where they are missing.
/// - On Linux a failure of TLS is told as `.other`: `URLSession` doesn't say more.
/// - On Linux the body of a redirect is waited for, and one that breaks off is an error; that of a redirect without a
///   `Location` is lost. A message that must not be sent twice has a connection of its own.
/// - On Linux a server that closes its connection inside of a head ends the whole process (`FoundationNetworking`, Swift
///   6.3.1): use `CurlTransport` with servers that are not trusted.
public final class URLSessionTransport: HTTPTransport {
    private let session = TransferSession()

    /// A transport with its own connections. Transfers in flight come to their end when it is released.
    public init() {}

    /// Starts a transfer; see `HTTPTransport`. `completion` must not block: all transfers share its queue.
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
    package var keepsCookies: Bool { false }
}
