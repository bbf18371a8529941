public import BeagleNet

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension NetworkError {
    /// What failed of a request that a `URLSession` was given.
    ///
    /// A `URLError` gives kind and phase; any other error beside a response outside 200...299 is of kind `.status`; a
    /// request that `toUrlRequest()` could not build gives the builder's error; the rest is `.other`.
    ///
    /// - Parameters:
    ///   - error: what the session or the app says; kept as `underlying` unless it is a `NetworkError`.
    ///   - data: the body, as far as it came.
    ///   - request: what was asked.
    ///   - response: the head of the answer, where one came.
    public init(error: any Swift.Error, data: Data? = nil, request: URLRequest, response: URLResponse? = nil) {
        let head = (response as? HTTPURLResponse).map { HTTPResponse($0) }
        if let refusal = request.refusal {
            self = refusal
        } else if let error = error as? URLError {
            self.init(error, during: response == nil ? .firstByte : .body)
        } else if let head, head.status.kind != .successful, !(error is NetworkError) {
            self.init(.status, during: .response, "the server returned \(head.status)")
        } else {
            self.init(wrapping: error)
        }
        if !(error is NetworkError) { underlying = error }
        self.request = HTTPRequest(request) ?? self.request
        self.response = head ?? self.response
        self.data = data ?? self.data
        url = response?.url?.absoluteString ?? url
    }

    /// What `URLSession` says about a task, with our words: its own may quote the URL with its query.
    ///
    /// On Linux it has one code, `.unknown`, for much that libcurl can tell apart: TLS failures among them.
    init(_ error: URLError, during phase: Phase) {
        let (kind, place, message, advice) = error.meaning(during: phase)
        self.init(kind, during: place, message, advice: advice, underlying: error)
    }
}

extension URLError {
    private typealias Meaning = (NetworkError.Kind, NetworkError.Phase, String, advice: String?)

    fileprivate func meaning(
        during phase: NetworkError.Phase
    ) -> (NetworkError.Kind, NetworkError.Phase, String, advice: String?) {
        switch code {
        case .cancelled: (.cancelled, phase, "the request was cancelled", nil)
        case .timedOut: (.timeout, phase, "no data arrived in time", "increase the timeout, or check the server")
        case .badURL: (.badURL, .build, "the URL is malformed", nil)
        case .networkConnectionLost where phase == .body: (.truncated, .body, "the connection was lost", nil)
        case .networkConnectionLost: (.network, phase, "the connection was lost", nil)
        case .unknown where phase == .body: broken
        // Nothing came at all: FoundationNetworking doesn't tell it from an answer that is no HTTP.
        case .badServerResponse where isOfLibcurl && phase != .body:
            (.network, phase, "the connection ended before a response arrived", nil)
        // An answer without a head (HTTP/0.9).
        case .unsupportedURL where ["http", "https"].contains(failingURL?.scheme?.lowercased()):
            (.protocol, phase, "the response is not HTTP", nil)
        case .unsupportedURL: (.unsupportedScheme, .build, "the URL's scheme is not supported", "use http or https")
        case .badServerResponse, .cannotParseResponse, .zeroByteResource:
            (.protocol, phase, "the response is not HTTP", nil)
        case .cannotDecodeRawData, .cannotDecodeContentData: (.encoding, .body, "the body is damaged", nil)
        case .dataLengthExceedsMaximum: (.tooLarge, phase, "the message is larger than URLSession allows", nil)
        case .httpTooManyRedirects: (.tooManyRedirects, .redirect, "there were too many redirects", nil)
        default:
            connecting ?? (
                .other, phase, "URLSession failed with code \(code.rawValue)", "see the underlying error"
            )
        }
    }

    /// Whether FoundationNetworking made it of what libcurl said.
    private var isOfLibcurl: Bool {
        #if canImport(FoundationNetworking)
            true
        #else
            false
        #endif
    }

    /// Failures in a body, for which FoundationNetworking has one code; only libcurl's words tell which it is.
    private var broken: Meaning {
        if localizedDescription.contains("unencoding") { return (.encoding, .body, "the body is damaged", nil) }
        if localizedDescription.contains("chunked-encoding") {
            return (.protocol, .body, "the body's chunks are malformed", nil)
        }
        return (.truncated, .body, "the body ended too early", nil)
    }

    /// Failures on the way to the server.
    private var connecting: Meaning? {
        switch code {
        case .cannotFindHost, .dnsLookupFailed:
            (.dns, .resolve, "the host name could not be resolved", "check the host name and the network")
        case .cannotConnectToHost:
            (
                .connect, .connect, "the connection could not be established",
                "check that the server is running at this address and port"
            )
        case .notConnectedToInternet, .internationalRoamingOff, .callIsActive, .dataNotAllowed:
            (.connect, .connect, "there is no connection to the internet", "check the network")
        case .secureConnectionFailed:
            (
                .tls, .tls, "the TLS connection could not be established",
                "check that the port speaks TLS (for plain HTTP, begin the URL with http://), then check the certificate"
            )
        case .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired:
            (.tls, .tls, "the TLS connection could not be established", "check the certificate and the host name")
        default: nil
        }
    }
}
