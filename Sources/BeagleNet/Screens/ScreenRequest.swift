public import BeagleNetRequestBuilder

/// A request for a screen through a `ViewClient`.
public struct ScreenRequest: Sendable {
    /// The path or URL of the screen.
    public var target: any Request.Target
    /// The method, body and header fields; a GET without them by default.
    public var additionalData: HttpAdditionalData
    /// Whether a stored screen is used; `nil`, the default, for the container's policy or `networkFirst`.
    public var policy: RequestPolicy?
    /// The user for whom the screen is fetched, as in `NetworkOperation.partition`; empty by default.
    public var partition = ""
    /// The timeout of the whole call, including all attempts; `nil`, the default, for no limit.
    public var timeout: Duration?

    /// Describes a screen.
    ///
    /// - Parameters:
    ///   - target: The path or URL of the screen.
    ///   - additionalData: The method, body and header fields; a GET without them by default.
    ///   - policy: Whether a stored screen is used; `nil`, the default, for the container's policy.
    public init(
        _ target: any Request.Target,
        additionalData: HttpAdditionalData = HttpAdditionalData(),
        policy: RequestPolicy? = nil
    ) {
        self.target = target
        self.additionalData = additionalData
        self.policy = policy
    }

    var isGet: Bool { additionalData.httpData?.method ?? .GET == .GET }

    /// The operation that fetches the screen.
    ///
    /// - Throws: `NetworkError` of kind `.badURL` if the target isn't a path or URL.
    func operation(_ client: any NetworkClient) throws(NetworkError) -> NetworkOperation {
        let data = additionalData == HttpAdditionalData() ? nil : additionalData
        var request = Request(
            url: try target.url(in: client.container),
            type: .fetchComponent,
            additionalData: data
        )
        request.limit(to: timeout, client.options)
        var operation = NetworkOperation(request, policy: policy)
        operation.partition = partition
        return operation
    }
}
