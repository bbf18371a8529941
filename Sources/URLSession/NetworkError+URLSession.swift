public import BeagleNet

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension NetworkError {
    /// Creates an error from the failure of a `URLSession` request.
    ///
    /// A `URLError` determines kind and phase. Any other error with a response outside 200...299 is of kind `.status`.
    /// A request that `toUrlRequest()` couldn't build has the builder's error. All other errors are of kind `.other`.
    ///
    /// - Parameters:
    ///   - error: The error of the session or the app, stored as `underlying` unless it is a `NetworkError`.
    ///   - data: The received part of the body.
    ///   - request: The request that failed.
    ///   - response: The head of the response, if one was received.
    public init(error: any Swift.Error, data: Data? = nil, request: URLRequest, response: URLResponse? = nil) {
        let head = (response as? HTTPURLResponse).map { HTTPResponse($0) }
        if let buildError = request.buildError {
            self = buildError
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

    /// Creates an error from a task's `URLError`, with a message of our own, because the original may contain the URL
    /// with its query.
    ///
    /// On Linux, the single code `.unknown` stands for many errors that libcurl distinguishes, including TLS failures.
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
        // No bytes were received. FoundationNetworking doesn't distinguish this from a response that isn't HTTP.
        case .badServerResponse where isOfLibcurl && phase != .body:
            (.network, phase, "the connection ended before a response arrived", nil)
        // A response without a head (HTTP/0.9).
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

    /// Whether FoundationNetworking created the error from one of libcurl's.
    private var isOfLibcurl: Bool {
        #if canImport(FoundationNetworking)
            true
        #else
            false
        #endif
    }

    /// The meaning of an error in the body. FoundationNetworking has one code for these; only libcurl's text
    /// distinguishes them.
    private var broken: Meaning {
        if localizedDescription.contains("unencoding") { return (.encoding, .body, "the body is damaged", nil) }
        if localizedDescription.contains("chunked-encoding") {
            return (.protocol, .body, "the body's chunks are malformed", nil)
        }
        return (.truncated, .body, "the body ended too early", nil)
    }

    /// The meaning of an error while connecting.
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
