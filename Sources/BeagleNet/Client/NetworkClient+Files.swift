public import BeagleNetHTTP
import BeagleNetRequestBuilder

extension NetworkClient {
    /// Writes what `target` names to a file, never holding it in memory.
    ///
    /// The bytes go to a `.part` file beside `PATH`, which takes its place when all are there. On any failure the part
    /// is removed and a file already at `PATH` is left as it was.
    ///
    /// - Parameters:
    ///   - target: path or URL.
    ///   - path: the file to write.
    ///   - query: items put after the query that `target` has.
    ///   - headers: header fields of this request.
    ///   - timeout: limit on the whole download; none where nil.
    ///   - progress: called after each piece, in the caller's task.
    /// - Returns: the response without its body.
    /// - Throws: `NetworkError`: `.status` where the status is outside 200...299, `.file` where the file cannot be
    ///   written, or why the response is not whole.
    @discardableResult
    public func download(
        _ target: some RequestTarget,
        to path: String,
        query: [URLQueryItem] = [],
        headers: [String: String] = [:],
        timeout: Duration? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(NetworkError) -> NetworkResponse {
        var request = try makeRequest(target, .rawRequest(Request.RequestData()), query, headers, timeout)
        request.options?.maxBodyBytes = nil
        let response = try await stream(request)
        guard response.response.status.kind == .successful else {
            return try await response.collect().result().get()
        }
        try await response.save(to: path, progress: progress)
        return NetworkResponse(response: response.response, url: response.url, metrics: response.metrics)
    }

    /// Sends the contents of a file, never holding it in memory.
    ///
    /// - Parameters:
    ///   - path: the regular file to send.
    ///   - target: path or URL.
    ///   - method: `PUT` by default.
    ///   - contentType: the media type of the file.
    ///   - query: items put after the query that `target` has.
    ///   - headers: header fields of this request.
    ///   - timeout: limit on the whole upload; none where nil.
    ///   - progress: called as pieces are taken to be sent, on a thread of the client's.
    /// - Throws: `NetworkError`; of kind `.file` where the file cannot be read, in which case nothing was sent.
    @discardableResult
    public func upload(
        from path: String,
        to target: some RequestTarget,
        method: String = "PUT",
        contentType: String = "application/octet-stream",
        query: [URLQueryItem] = [],
        headers: [String: String] = [:],
        timeout: Duration? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(NetworkError) -> NetworkResponse {
        let body = try HTTPBody.file(path: path, progress: progress)
        let data = Request.RequestData(method: method, body: .stream(body, contentType: contentType))
        var request = try makeRequest(target, .rawRequest(data), query, headers, timeout)
        if timeout == nil {
            var options = options
            options.timeouts.total = nil
            request.options = options
        }
        return try await executeRequest(request)
    }
}

extension StreamingResponse {
    fileprivate func save(to path: String, progress: (@Sendable (TransferProgress) -> Void)?) async throws(NetworkError)
    {
        let file = try FileSink(path: path, mayWait: true)
        // The announced length is that of the encoded bytes, and the bytes counted are decoded ones.
        let isEncoded = response.headerFields[.contentEncoding] != nil
        let whole = isEncoded ? nil : response.headerFields[.contentLength].flatMap(Int64.init)
        try await file.write(contentsOf: body) { _ in
            progress?(
                TransferProgress(bytesSent: 0, bytesToSend: 0, bytesReceived: file.position, bytesToReceive: whole)
            )
        }
    }
}

extension HTTPBody {
    /// The contents of a file; tells how much of it was taken.
    fileprivate static func file(
        path: String,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) throws(NetworkError) -> HTTPBody {
        let size = try OpenFile(reading: path).size()
        guard let progress else { return .file(path: path) }
        let content = Content.stream(length: size, isReplayable: true) {
            let file = FileReader(path: path)
            let sent = Lock<Int64>(0)
            return {
                guard let chunk = try file.next() else { return nil }
                let count = sent.withLock { sent in
                    sent += Int64(chunk.count)
                    return sent
                }
                progress(TransferProgress(bytesSent: count, bytesToSend: size, bytesReceived: 0, bytesToReceive: nil))
                return chunk
            }
        }
        return HTTPBody(content)
    }
}
