public import BeagleNetHTTP
public import BeagleNetRequestBuilder

/// The everyday calls of every client. Each takes a path or a URL, and optionally query items, headers and a limit on the
/// time of the whole call.
extension NetworkClient {
    /// Asks for a screen or other JSON and makes a value of it.
    ///
    /// - Parameters:
    ///   - target: path or URL.
    ///   - type: what to make of the body.
    ///   - query: items put after the query that `target` has.
    ///   - headers: header fields of this request.
    ///   - timeout: the longest that the whole call may take, with all attempts; by default only `Timeouts.total` limits each
    ///     attempt.
    ///   - decoder: how to make the value; the container's `bodyDecoder` where nil.
    /// - Throws: `NetworkError`: `.status` where the status is outside 200...299, `.decoding` where the body is not
    ///   what was expected, or why there is no response.
    public func fetch<Value: Decodable>(
        _ target: some RequestTarget,
        as type: Value.Type = Value.self,
        query: [URLQueryItem] = [],
        headers: [String: String] = [:],
        timeout: Duration? = nil,
        decoder: (any BodyDecoder)? = nil
    ) async throws(NetworkError) -> Value {
        let request = try makeRequest(target, .fetchComponent, query, headers, timeout)
        return try await send(request, as: type, decoder: decoder)
    }

    /// Performs a request and makes a value of the body.
    ///
    /// - Parameters:
    ///   - request: what to ask.
    ///   - type: what to make of the body.
    ///   - decoder: how to make the value; the container's `bodyDecoder` where nil.
    /// - Throws: `NetworkError`; of kind `.status` where the status is outside 200...299, since a value can only be
    ///   made of a success.
    public func send<Value: Decodable>(
        _ request: Request,
        as type: Value.Type,
        decoder: (any BodyDecoder)? = nil
    ) async throws(NetworkError) -> Value {
        try await executeRequest(request).decode(as: type, with: decoder ?? container.bodyDecoder)
    }

    /// Asks for an image; its bytes are the response's `data`.
    ///
    /// - Parameters:
    ///   - target: path or URL.
    ///   - query: items put after the query that `target` has.
    ///   - headers: header fields of this request.
    ///   - timeout: the longest that the whole call may take, with all attempts; by default only `Timeouts.total` limits each
    ///     attempt.
    /// - Throws: `NetworkError`; of kind `.status` where the status is outside 200...299.
    public func image(
        _ target: some RequestTarget,
        query: [URLQueryItem] = [],
        headers: [String: String] = [:],
        timeout: Duration? = nil
    ) async throws(NetworkError) -> NetworkResponse {
        try await executeRequest(makeRequest(target, .fetchImage, query, headers, timeout))
    }

    /// Submits a form.
    ///
    /// - Parameters:
    ///   - form: method and inputs.
    ///   - target: path or URL.
    ///   - query: items put after the query that `target` has; those of a GET or DELETE form come before them.
    ///   - headers: header fields of this request.
    ///   - timeout: the longest that the whole call may take, with all attempts; by default only `Timeouts.total` limits each
    ///     attempt.
    /// - Throws: `NetworkError`; of kind `.status` where the server refuses the form, with its answer in `data`.
    public func submit(
        form: Request.FormData,
        to target: some RequestTarget,
        query: [URLQueryItem] = [],
        headers: [String: String] = [:],
        timeout: Duration? = nil
    ) async throws(NetworkError) -> NetworkResponse {
        try await executeRequest(makeRequest(target, .submitForm(form), query, headers, timeout))
    }

    func makeRequest(
        _ target: some RequestTarget,
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
    /// Limits the whole call. One attempt may then take as long as the call, even if its own limit is shorter.
    ///
    /// - Parameters:
    ///   - timeout: the limit; `nil` for none.
    ///   - options: the client's, for a request without its own.
    package mutating func limit(to timeout: Duration?, _ options: TransferOptions) {
        guard let timeout else { return }
        self.timeout = timeout
        var options = self.options ?? options
        guard let total = options.timeouts.total, total < timeout else { return }
        options.timeouts.total = timeout
        self.options = options
    }
}
