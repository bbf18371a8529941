public import BeagleNetHTTP
public import BeagleNetRequestBuilder

/// The everyday calls of every client.
///
/// Each takes a path or a URL, and optionally query items, headers and a timeout for the whole call.
extension NetworkClient {
    /// Fetches a screen or other JSON and decodes it.
    ///
    /// - Parameters:
    ///   - target: A path or URL.
    ///   - type: The type to decode.
    ///   - query: The items to append to the query of `target`.
    ///   - headers: The header fields of this request.
    ///   - timeout: The timeout of the whole call, including all attempts. By default only
    ///     `TransferOptions.Timeouts.total` limits each attempt.
    ///   - decoder: The decoder, or `nil` to use the container's `bodyDecoder`.
    /// - Throws: `NetworkError`: `.status` if the status is outside 200...299, `.decoding` if the body can't be
    ///   decoded, or the reason why there is no response.
    public func fetch<Value: Decodable>(
        _ target: some Request.Target,
        as type: Value.Type = Value.self,
        query: [URLQueryItem] = [],
        headers: [String: String] = [:],
        timeout: Duration? = nil,
        decoder: (any BodyDecoder)? = nil
    ) async throws(NetworkError) -> Value {
        let request = try makeRequest(target, .fetchComponent, query, headers, timeout)
        return try await send(request, as: type, decoder: decoder)
    }

    /// Performs a request and decodes the body.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - type: The type to decode.
    ///   - decoder: The decoder, or `nil` to use the container's `bodyDecoder`.
    /// - Throws: `NetworkError`; of kind `.status` if the status is outside 200...299, because only a successful
    ///   response is decoded.
    public func send<Value: Decodable>(
        _ request: Request,
        as type: Value.Type,
        decoder: (any BodyDecoder)? = nil
    ) async throws(NetworkError) -> Value {
        try await executeRequest(request).decode(as: type, with: decoder ?? container.bodyDecoder)
    }

    /// Fetches an image; its bytes are the response's `data`.
    ///
    /// - Parameters:
    ///   - target: A path or URL.
    ///   - query: The items to append to the query of `target`.
    ///   - headers: The header fields of this request.
    ///   - timeout: The timeout of the whole call, including all attempts. By default only
    ///     `TransferOptions.Timeouts.total` limits each attempt.
    /// - Throws: `NetworkError`; of kind `.status` if the status is outside 200...299.
    public func image(
        _ target: some Request.Target,
        query: [URLQueryItem] = [],
        headers: [String: String] = [:],
        timeout: Duration? = nil
    ) async throws(NetworkError) -> NetworkResponse {
        try await executeRequest(makeRequest(target, .fetchImage, query, headers, timeout))
    }

    func makeRequest(
        _ target: some Request.Target,
        _ type: Request.RequestType,
        _ query: [URLQueryItem],
        _ headers: [String: String],
        _ timeout: Duration?
    ) throws(NetworkError) -> Request {
        var request = Request(url: try target.url(in: container), type: type, query: query)
        if !headers.isEmpty { request.additionalData = HttpAdditionalData(headers: headers) }
        request.limit(to: timeout, options)
        return request
    }
}

extension Request {
    /// Limits the duration of the whole call.
    ///
    /// One attempt may then take as long as the call, even if its own limit is shorter.
    ///
    /// - Parameters:
    ///   - timeout: The limit, or `nil` for no limit.
    ///   - options: The client's options, for a request without its own.
    package mutating func limit(to timeout: Duration?, _ options: TransferOptions) {
        guard let timeout else { return }
        self.timeout = timeout
        var options = self.options ?? options
        guard let total = options.timeouts.total, total < timeout else { return }
        options.timeouts.total = timeout
        self.options = options
    }
}
