public import BeagleNetHTTP
import BeagleNetRequestBuilder

extension NetworkClient {
    /// Downloads `target` to a file, without holding it in memory.
    ///
    /// The bytes go to a `.part` file beside `PATH`, which replaces the file at `PATH` when it is complete. On any
    /// failure the part is removed, unless the download is resumable, and a file already at `PATH` is left unchanged.
    ///
    /// A resumable download keeps `PATH.part`, with `PATH.part.json` beside it, if the server sent a strong validator:
    /// an `ETag`, or a `Last-Modified` well before its `Date` (RFC 9110, 8.8). The next resumable download of the same
    /// URL to the same path requests the missing bytes (`Range` with `If-Range`), even in another process after the
    /// first was killed. If the file has changed, or the server doesn't support ranges, it starts over. A resumable
    /// download requests an uncompressed body. A part is accepted only if its `Content-Range` begins where the file
    /// ends and states the complete length. It is complete only when all of that length is there.
    ///
    /// - Parameters:
    ///   - target: A path or URL.
    ///   - path: The file to write.
    ///   - resuming: Whether to continue an earlier download, and to keep a part that can be continued. `false` by
    ///     default.
    ///   - query: The items to append to the query of `target`.
    ///   - headers: The header fields of this request.
    ///   - timeout: The timeout of the wait for the head, including all attempts, and again of the transfer of the
    ///     body. No limit by default.
    ///   - progress: Called as chunks are written, at most every 50 ms and once at the end, in the caller's task.
    /// - Returns: The response without its body. For a resumed download it is the response of the last part, or the 416
    ///   which said that nothing was missing.
    /// - Throws: `NetworkError`: `.status` if the status is outside 200...299, `.file` if the file can't be written or
    ///   another resumable download is writing it, `.tooLarge` if it is an image with more pixels than the client's
    ///   `ImageInterceptor` allows, `.protocol` if the server sends a part that wasn't requested, `.badRequest` if a
    ///   resumable download has its own `Range`, `If-Range` or `Accept-Encoding`, or the reason why the response is
    ///   incomplete.
    @discardableResult
    public func download(
        _ target: some Request.Target,
        to path: String,
        resuming: Bool = false,
        query: [URLQueryItem] = [],
        headers: [String: String] = [:],
        timeout: Duration? = nil,
        progress: (@Sendable (TransferRequest.Progress) -> Void)? = nil
    ) async throws(NetworkError) -> NetworkResponse {
        var request = try makeRequest(target, .rawRequest(Request.RequestData()), query, headers, timeout)
        // The operation ends with the head of the response, so the body needs a limit of its own.
        var options = request.options ?? options
        options.timeouts.total = timeout
        options.maxBodyBytes = nil
        options.limitsImages = true
        request.options = options
        if resuming { return try await resume(request, to: path, headers, progress) }
        let response = try await stream(request)
        guard response.response.status.kind == .successful else {
            return try await response.collect().result().get()
        }
        let asksForPart = headers.keys.contains { $0.lowercased() == "range" }
        if response.response.status == .partialContent, !asksForPart { throw .unexpectedPartialResponse }
        try await response.save(to: path, progress: progress)
        return NetworkResponse(response: response.response, url: response.url, metrics: response.metrics)
    }

    private func resume(
        _ request: Request,
        to path: String,
        _ headers: [String: String],
        _ progress: (@Sendable (TransferRequest.Progress) -> Void)?
    ) async throws(NetworkError) -> NetworkResponse {
        let own = Set(headers.keys.map { $0.lowercased() })
        guard own.isDisjoint(with: ["range", "if-range", "accept-encoding"]) else {
            throw NetworkError(
                .badRequest,
                during: .build,
                "a resumable download sets Range, If-Range and Accept-Encoding itself",
                advice: "remove these headers, or download without resuming"
            )
        }
        let query = request.query.map { "\($0.name)=\($0.value ?? "")" }
        let file = try ResumableFile(path: path, url: ([request.url.absoluteString] + query).joined(separator: "\n"))
        while true {
            var request = request
            let fields = file.fields.map { ($0.name.rawName, $0.opaqueValue) }
            request.additionalData = HttpAdditionalData(headers: headers.merging(fields) { $1 })
            let response = try await stream(request)
            guard file.accepts(response.response.status) else {
                return try await response.collect().result().get()
            }
            switch try file.begin(response.response) {
            case .restart: continue
            case .complete: break
            case .body: try await response.save(to: file, progress: progress)
            }
            try file.commit()
            return NetworkResponse(response: response.response, url: response.url, metrics: response.metrics)
        }
    }

    /// Uploads the contents of a file, without holding it in memory.
    ///
    /// - Parameters:
    ///   - path: The regular file to send.
    ///   - target: A path or URL.
    ///   - method: The method, `PUT` by default.
    ///   - contentType: The media type of the file.
    ///   - query: The items to append to the query of `target`.
    ///   - headers: The header fields of this request.
    ///   - timeout: The timeout of the upload, including all attempts. No limit by default.
    ///   - progress: Called as chunks are read for sending, at most every 50 ms and once at the end, on a thread of the
    ///     client.
    /// - Throws: `NetworkError`; of kind `.file` if the file can't be read, in which case nothing was sent.
    @discardableResult
    public func upload(
        from path: String,
        to target: some Request.Target,
        method: String = "PUT",
        contentType: String = "application/octet-stream",
        query: [URLQueryItem] = [],
        headers: [String: String] = [:],
        timeout: Duration? = nil,
        progress: (@Sendable (TransferRequest.Progress) -> Void)? = nil
    ) async throws(NetworkError) -> NetworkResponse {
        let body = try HTTPBody.file(path: path, progress: progress)
        let data = Request.RequestData(method: method, body: .stream(body, contentType: contentType))
        var request = try makeRequest(target, .rawRequest(data), query, headers, timeout)
        if timeout == nil { request.liftTotalTimeout(of: options) }
        return try await executeRequest(request)
    }
}

extension Request {
    /// Removes the time limit of each attempt, because only the caller knows the size of the file.
    ///
    /// - Parameter options: The client's options.
    mutating func liftTotalTimeout(of options: TransferOptions) {
        var options = self.options ?? options
        options.timeouts.total = nil
        self.options = options
    }
}

extension StreamingResponse {
    fileprivate func save(to path: String, progress: (@Sendable (TransferRequest.Progress) -> Void)?)
        async throws(NetworkError)
    {
        let file = try FileSink(path: path, mayBlock: true)
        // The announced length is of the encoded bytes, but decoded bytes are counted.
        let isEncoded = response.headerFields[.contentEncoding] != nil
        let whole = isEncoded ? nil : response.headerFields[single: .contentLength].flatMap(Int64.init)
        var reports = ProgressReports(progress)
        try await file.write(contentsOf: body, of: PartialBody(response)) { _ in
            reports.report(file.position, of: whole)
        }
        reports.end()
    }

    fileprivate func save(
        to file: ResumableFile,
        progress: (@Sendable (TransferRequest.Progress) -> Void)?
    ) async throws(NetworkError) {
        var reports = ProgressReports(progress)
        try await file.write(contentsOf: body) { _ in reports.report(file.position, of: file.length) }
        reports.end()
    }
}

/// A reporter of the number of bytes written, at most every `ProgressPace.interval` and at the end.
private struct ProgressReports {
    private let report: (@Sendable (TransferRequest.Progress) -> Void)?
    private var pace = ProgressPace()
    private var pending: TransferRequest.Progress?

    init(_ report: (@Sendable (TransferRequest.Progress) -> Void)?) {
        self.report = report
    }

    mutating func report(_ count: Int64, of whole: Int64?) {
        guard let report else { return }
        let progress = TransferRequest.Progress(
            bytesSent: 0,
            bytesToSend: 0,
            bytesReceived: count,
            bytesToReceive: whole
        )
        pending = pace.isDue() ? nil : progress
        if pending == nil { report(progress) }
    }

    func end() {
        if let pending { report?(pending) }
    }
}

extension HTTPBody {
    /// Returns a body with the contents of a file, which reports its progress.
    fileprivate static func file(
        path: String,
        progress: (@Sendable (TransferRequest.Progress) -> Void)?
    ) throws(NetworkError) -> HTTPBody {
        let size = try OpenFile(reading: path).size()
        guard let progress else { return .file(path: path) }
        let content = Content.stream(length: size, isReplayable: true) {
            let file = FileReader(path: path)
            let state = Lock<(sent: Int64, pace: ProgressPace)>((0, ProgressPace()))
            return {
                guard let chunk = try file.next() else { return nil }
                let (count, isDue) = state.withLock { state in
                    state.sent += Int64(chunk.count)
                    return (state.sent, state.pace.isDue() || state.sent == size)
                }
                if isDue {
                    progress(
                        TransferRequest.Progress(
                            bytesSent: count,
                            bytesToSend: size,
                            bytesReceived: 0,
                            bytesToReceive: nil
                        )
                    )
                }
                return chunk
            }
        }
        return HTTPBody(content)
    }
}
