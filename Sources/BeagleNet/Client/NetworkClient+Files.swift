public import BeagleNetHTTP
import BeagleNetRequestBuilder

extension NetworkClient {
    /// Writes what `target` names to a file, never holding it in memory.
    ///
    /// The bytes go to a `.part` file beside `PATH`, which takes its place when all are there. On any failure the part
    /// is removed, unless the download is a resuming one, and a file already at `PATH` is left as it was.
    ///
    /// A resuming download keeps `PATH.part`, with `PATH.part.json` beside it, where the server has given the file a
    /// strong validator: an `ETag`, or a `Last-Modified` well before its `Date` (RFC 9110, 8.8). The next resuming
    /// download of the same URL to the same path asks for what is missing (`Range` with `If-Range`), also in another
    /// process and after the first was killed. Where the file has changed, or the server sends no ranges, it starts
    /// over. Such a download asks for an uncompressed body. A part is taken only if its `Content-Range` begins where the
    /// file ends and tells how long the whole is, and it counts as whole only when all of that is there.
    ///
    /// - Parameters:
    ///   - target: path or URL.
    ///   - path: the file to write.
    ///   - resuming: whether to go on with an earlier download and to leave one to go on with. No by default.
    ///   - query: items put after the query that `target` has.
    ///   - headers: header fields of this request.
    ///   - timeout: the longest that the wait for the head, with all attempts, and the transfer of the body may each
    ///     take; no limit by default.
    ///   - progress: called as pieces are written, at most every 50 ms and once at the end, in the caller's task.
    /// - Returns: the response without its body; of a resumed download that of the last part, or the 416 that said that
    ///   nothing was missing.
    /// - Throws: `NetworkError`: `.status` where the status is outside 200...299, `.file` where the file cannot be
    ///   written or another resuming download writes it, `.tooLarge` if it is an image of more pixels than the client's
    ///   `ImageInterceptor` allows, `.protocol` if the server sends another part than the one asked for, `.badRequest` if
    ///   a resuming one has a `Range` or `Accept-Encoding` of its own, or why the response is not whole.
    @discardableResult
    public func download(
        _ target: some RequestTarget,
        to path: String,
        resuming: Bool = false,
        query: [URLQueryItem] = [],
        headers: [String: String] = [:],
        timeout: Duration? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(NetworkError) -> NetworkResponse {
        var request = try makeRequest(target, .rawRequest(Request.RequestData()), query, headers, timeout)
        // The operation ends with the head of the response: the body needs a limit of its own.
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
        if response.response.status == .partialContent, !asksForPart { throw .unaskedPart }
        try await response.save(to: path, progress: progress)
        return NetworkResponse(response: response.response, url: response.url, metrics: response.metrics)
    }

    private func resume(
        _ request: Request,
        to path: String,
        _ headers: [String: String],
        _ progress: (@Sendable (TransferProgress) -> Void)?
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
            guard file.takes(response.response.status) else {
                return try await response.collect().result().get()
            }
            switch try file.begin(response.response) {
            case .again: continue
            case .complete: break
            case .body: try await response.save(to: file, progress: progress)
            }
            try file.commit()
            return NetworkResponse(response: response.response, url: response.url, metrics: response.metrics)
        }
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
    ///   - timeout: the longest that the upload may take, with all attempts; no limit by default.
    ///   - progress: called as pieces are taken to be sent, at most every 50 ms and once at the end, on a thread of the
    ///     client's.
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
        if timeout == nil { request.liftTotalTimeout(of: options) }
        return try await executeRequest(request)
    }
}

extension Request {
    /// Lets one attempt take as long as it needs, as the size of a file is known to the caller alone.
    ///
    /// - Parameter options: the client's.
    mutating func liftTotalTimeout(of options: TransferOptions) {
        var options = self.options ?? options
        options.timeouts.total = nil
        self.options = options
    }
}

extension StreamingResponse {
    fileprivate func save(to path: String, progress: (@Sendable (TransferProgress) -> Void)?) async throws(NetworkError)
    {
        let file = try FileSink(path: path, mayWait: true)
        // The announced length is that of the encoded bytes, and the bytes counted are decoded ones.
        let isEncoded = response.headerFields[.contentEncoding] != nil
        let whole = isEncoded ? nil : response.headerFields[single: .contentLength].flatMap(Int64.init)
        var reports = ProgressReports(progress)
        try await file.write(contentsOf: body, of: PartialBody(response)) { _ in reports.tell(file.position, of: whole)
        }
        reports.end()
    }

    fileprivate func save(
        to file: ResumableFile,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(NetworkError) {
        var reports = ProgressReports(progress)
        try await file.write(contentsOf: body) { _ in reports.tell(file.position, of: file.length) }
        reports.end()
    }
}

/// Tells how much of a body was written: at most every `ProgressPace.interval`, and at the end.
private struct ProgressReports {
    private let report: (@Sendable (TransferProgress) -> Void)?
    private var pace = ProgressPace()
    private var untold: TransferProgress?

    init(_ report: (@Sendable (TransferProgress) -> Void)?) {
        self.report = report
    }

    mutating func tell(_ count: Int64, of whole: Int64?) {
        guard let report else { return }
        let progress = TransferProgress(bytesSent: 0, bytesToSend: 0, bytesReceived: count, bytesToReceive: whole)
        untold = pace.isDue() ? nil : progress
        if untold == nil { report(progress) }
    }

    func end() {
        if let untold { report?(untold) }
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
            let state = Lock<(sent: Int64, pace: ProgressPace)>((0, ProgressPace()))
            return {
                guard let chunk = try file.next() else { return nil }
                let (count, isDue) = state.withLock { state in
                    state.sent += Int64(chunk.count)
                    return (state.sent, state.pace.isDue() || state.sent == size)
                }
                if isDue {
                    progress(
                        TransferProgress(bytesSent: count, bytesToSend: size, bytesReceived: 0, bytesToReceive: nil)
                    )
                }
                return chunk
            }
        }
        return HTTPBody(content)
    }
}
