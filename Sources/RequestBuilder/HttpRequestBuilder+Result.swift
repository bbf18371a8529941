public import BeagleNetHTTP

extension HttpRequestBuilder {
    /// The result of the non-throwing `build`: the request as plain values, or an error.
    public struct Result: Sendable {
        /// The URL with its query, or the URL that was passed if `error` is set.
        public let url: URL
        /// The method.
        public let method: String
        /// The headers, empty if `error` is set.
        public let headers: [String: String]
        /// The body if it is in memory; `request` has every body.
        public let body: Data?
        /// The reason why the request can't be sent, or `nil` if it can.
        public let error: NetworkError?
        /// The request for a transport, or `nil` if `error` is set.
        public let request: TransferRequest?
    }

    /// Builds the HTTP request, without throwing.
    ///
    /// - Returns: The request, or the error in `Result.error`, which must be checked before sending.
    public func build(
        url: URL,
        requestType: Request.RequestType,
        additionalData: HttpAdditionalData?
    ) -> Result {
        let request = Request(url: url, type: requestType, additionalData: additionalData)
        do {
            let built = try build(request)
            return Result(
                url: URL(string: built.head.urlText) ?? url,
                method: built.head.method.rawValue,
                headers: Dictionary(
                    built.head.headerFields.map { ($0.name.rawName, $0.value) },
                    uniquingKeysWith: { "\($0),\($1)" }
                ),
                body: built.body?.data,
                error: nil,
                request: built
            )
        } catch {
            return Result(url: url, method: "", headers: [:], body: nil, error: error, request: nil)
        }
    }
}

extension HttpRequestBuilder.Result: CustomStringConvertible, CustomReflectable {
    /// The request, or the error, without secrets.
    public var description: String { request?.description ?? error?.description ?? Redactor.standard.redact(url: url) }
    /// An empty mirror, so that `dump` doesn't show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
