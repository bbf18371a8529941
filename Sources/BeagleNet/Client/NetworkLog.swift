import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder

/// What a client tells its logger. Nothing is put together that the logger does not accept.
struct NetworkLog {
    let logger: any BeagleLogger
    let redactor: Redactor
    /// Whether queries are left out whole: those of a form hold what a person typed.
    private var hidesQueries = false
    private let style: LogInterceptor.Style
    private let callerContexts: [any CallerContext]
    /// What is asked in words, where the URL does not tell: `query Home`. Letters, digits, underscores and a space.
    private let title: String?

    init(
        logger: any BeagleLogger,
        redactor: Redactor,
        of request: Request,
        _ style: LogInterceptor.Style = .messages,
        _ callerContexts: [any CallerContext] = [],
        title: String? = nil
    ) {
        self.logger = logger
        self.redactor = redactor
        self.style = style
        self.callerContexts = callerContexts
        self.title = title
        if case .submitForm = request.type { hidesQueries = true }
    }

    func request(_ transfer: TransferRequest) {
        guard style != .exchanges, logger.accepts(.info) else { return }
        if style == .commands {
            let command = CurlCommand(transfer, redactor, url: shown(transfer.head.urlText))
            return logger.log(Line(message: title.map { "# \($0)\n\(command)" } ?? "\(command)"))
        }
        let fields = transfer.head.headerFields
        let request = Log.NetworkRequest(
            method: transfer.head.method.rawValue,
            url: shown(transfer.head.urlText),
            headers: headers(fields),
            body: withTitle(transfer.body.map { summary(of: $0, fields) })
        )
        logger.log(Log.network(.httpRequest(request: request)))
    }

    /// - Returns: the result; of a streamed body the end is told as well.
    func result(
        _ result: NetworkOperation.Result,
        of request: HTTPRequest,
        since start: ContinuousClock.Instant
    ) -> NetworkOperation.Result {
        switch result.content {
        case .connection where style == .exchanges:
            line(request, .info, start, "ended", nil)
            return result
        case .progress, .connection: return result
        case .response(let response) where style == .exchanges:
            let count = Int64(response.data.count)
            exchange(request, response.response, count, hops: response.metrics.hops.count, since: start)
            return result
        case .response(let response):
            self.response(response)
            return result
        case .stream(var stream):
            let head = NetworkResponse(response: stream.response, url: stream.url, metrics: stream.metrics)
            if style != .exchanges { response(head, stream.body) }
            let caller = callerContexts.capture()
            stream.body = stream.body.tellingItsEnd { count, error in
                caller.run { end(count, error, of: head, to: request, since: start) }
            }
            var result = result
            result.content = .stream(stream)
            return result
        }
    }

    func failure(_ error: NetworkError, of request: HTTPRequest, since start: ContinuousClock.Instant) {
        if style == .exchanges { return exchange(request, endedBy: error, since: start) }
        if let response = NetworkResponse(of: error) { return self.response(response) }
        hops(error.metrics?.hops ?? [])
        failure(error, url: error.request?.urlText ?? request.urlText, after: error.metrics?.total)
    }

    func refusal(_ error: NetworkError, of request: Request) {
        let url = request.url.absoluteString
        guard error.kind == .badURL else { return failure(error, url: url, after: nil) }
        guard logger.accepts(.error) else { return }
        logger.log(Log.network(.couldNotBuildUrl(url: redactor.redact(url: url))))
    }

    // MARK: - One line

    /// A message that is told as it is.
    private struct Line: LogType {
        let message: String
        var level = LogLevel.info
        var category: String { "Network" }
    }

    private func exchange(
        _ request: HTTPRequest,
        _ response: HTTPResponse,
        _ count: Int64,
        hops: Int,
        since start: ContinuousClock.Instant
    ) {
        let status = response.status.code
        let via = hops == 0 ? "" : " after \(hops) redirect\(hops == 1 ? "" : "s")"
        let body = "\(count) bytes of \(redactor.mediaType(response.headerFields[single: .contentType]))"
        line(request, LogLevel(status: status), start, "\(status)\(via)", body)
    }

    private func exchange(_ request: HTTPRequest, endedBy error: NetworkError, since start: ContinuousClock.Instant) {
        if error.kind == .status, let response = NetworkResponse(of: error) {
            let count = Int64(response.data.count)
            return exchange(request, response.response, count, hops: response.metrics.hops.count, since: start)
        }
        line(request, error.isCancelled ? .info : .error, start, redactor.redact(text: error.message), nil)
    }

    private func line(
        _ request: HTTPRequest,
        _ level: LogLevel,
        _ start: ContinuousClock.Instant,
        _ outcome: String,
        _ body: String?
    ) {
        guard logger.accepts(level) else { return }
        let time = (ContinuousClock.now - start).milliseconds
        let details = withTitle(body).map { " [\($0)]" } ?? ""
        let asked = "\(request.method.rawValue) \(shown(request.urlText))"
        logger.log(Line(message: "\(asked) -> \(outcome) in \(time) ms\(details)", level: level))
    }

    // MARK: - Messages

    private func hops(_ hops: [TransferHop]) {
        for hop in hops where logger.accepts(LogLevel(status: hop.status)) {
            let message = Log.NetworkResponse(status: hop.status, url: shown(hop.url), duration: hop.duration)
            logger.log(Log.network(.httpResponse(response: message)))
        }
    }

    private func response(_ response: NetworkResponse, _ body: HTTPBody? = nil) {
        hops(response.metrics.hops)
        guard logger.accepts(LogLevel(status: response.status.code)) else { return }
        let fields = response.response.headerFields
        let message = Log.NetworkResponse(
            status: response.status.code,
            url: shown(response.url),
            headers: headers(fields),
            body: summary(of: body ?? HTTPBody(response.data), fields),
            duration: response.metrics.total
        )
        logger.log(Log.network(.httpResponse(response: message)))
    }

    private func end(
        _ count: Int64,
        _ error: NetworkError?,
        of response: NetworkResponse,
        to request: HTTPRequest,
        since start: ContinuousClock.Instant
    ) {
        if style == .exchanges {
            if let error { return exchange(request, endedBy: error, since: start) }
            let hops = response.metrics.hops.count
            return exchange(request, response.response, count, hops: hops, since: start)
        }
        let duration = ContinuousClock.now - start
        let body = "read \(count) bytes"
        if let error { return failure(error, url: response.url, after: duration, body: body) }
        let status = response.status.code
        guard logger.accepts(LogLevel(status: status)) else { return }
        let message = Log.NetworkResponse(status: status, url: shown(response.url), body: body, duration: duration)
        logger.log(Log.network(.httpResponse(response: message)))
    }

    /// Being cancelled is no fault.
    private func failure(_ error: NetworkError, url: String, after duration: Duration?, body: String? = nil) {
        let level: LogLevel = error.isCancelled ? .info : .error
        guard logger.accepts(level) else { return }
        let message = Log.NetworkResponse(
            status: nil,
            url: shown(url),
            body: body,
            duration: duration,
            failure: redactor.redact(text: error.message),
            level: level
        )
        logger.log(Log.network(.httpResponse(response: message)))
    }

    private func withTitle(_ body: String?) -> String? {
        guard let title else { return body }
        return body.map { "\(title); \($0)" } ?? title
    }

    func shown(_ url: String) -> String {
        guard hidesQueries, let mark = url.unicodeScalars.firstIndex(of: "?") else { return redactor.redact(url: url) }
        return redactor.redact(url: String(url[..<mark])) + "?…"
    }

    private func headers(_ fields: HTTPFields) -> [Log.Header] {
        redactor.redact(fields).map { Log.Header(name: $0.name, value: $0.value) }
    }

    private func summary(of body: HTTPBody, _ fields: HTTPFields) -> String {
        let contentType = fields[.contentType]
        if let data = body.data { return redactor.summary(of: data, contentType: contentType) }
        let size = body.length.map { "\($0) bytes" } ?? "a stream"
        return contentType.map { "\(size) of \(redactor.mediaType($0))" } ?? size
    }
}
