public import BeagleNetHTTP

extension HttpRequestBuilder {
    /// What the seed's `build` gives: the message in plain values, or the error that it cannot be sent.
    public struct Result: Sendable {
        /// The URL with its query; the one given where `error` is set.
        public let url: URL
        /// The method.
        public let method: String
        /// The headers; none where `error` is set.
        public let headers: [String: String]
        /// The body, where it is in memory; `request` has every body.
        public let body: Data?
        /// Why the message cannot be sent; then nothing may be.
        public let error: NetworkError?
        /// The message as a transport takes it; nil where `error` is set.
        public let request: TransferRequest?
    }

    /// The message of a request, without throwing.
    ///
    /// - Returns: the message, or the error in `Result.error`: ask for it before sending.
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
    /// The message, or why it cannot be sent, without secrets.
    public var description: String { request?.description ?? error?.description ?? Redactor.standard.redact(url: url) }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
