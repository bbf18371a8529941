import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder

/// The log messages of a `LogInterceptor` about one operation, created only if its logger accepts them.
final class NetworkLog: RequestObservation {
    private let operation: NetworkOperation
    private let style: LogInterceptor.Style
    /// The number of the run's attempts before this request.
    private let earlierAttempts: Int
    private let start = ContinuousClock.now

    init(of operation: NetworkOperation, _ style: LogInterceptor.Style) {
        self.operation = operation
        self.style = style
        earlierAttempts = (operation.run?.attempts ?? 1) - 1
    }

    private var attempts: Int { (operation.run?.attempts ?? 1) - earlierAttempts }

    private var redactor: Redactor { operation.redactor }

    func request() {
        let transfer = operation.transfer
        let title = operation.title
        switch style {
        case .exchanges: break
        case .commands:
            let command = CurlCommand(transfer, redactor, url: operation.redactedURL(transfer.head.urlText))
            log(title.map { "# \($0)\n\(command)" } ?? "\(command)")
        case .messages:
            let fields = transfer.head.headerFields
            let body = [title, transfer.body.map { summary(of: $0, fields) }].compactMap(\.self)
            let request = Log.NetworkRequest(
                method: transfer.head.method.rawValue,
                url: operation.redactedURL(transfer.head.urlText),
                headers: headers(fields),
                body: body.isEmpty ? nil : body.joined(separator: "; ")
            )
            operation.logger.log(Log.network(.httpRequest(request: request)))
        }
    }

    func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) {
        switch outcome {
        case .success(let result): outcome = .success(self.result(result))
        case .failure(let error): failure(error)
        }
    }

    /// Logs a result.
    ///
    /// - Returns: The result, which also logs the end of a streamed body.
    private func result(_ result: NetworkOperation.Result) -> NetworkOperation.Result {
        switch result.content {
        case .connection where style == .exchanges: exchange("ended")
        case .progress, .connection: break
        case .response(let response):
            if style == .exchanges { exchange(response, response.data.count) } else { self.response(response) }
        case .stream(var stream):
            let head = stream.withoutBody
            if style != .exchanges { response(head, stream.body) }
            if let data = stream.body.data {
                if style == .exchanges { exchange(head, data.count) }
                return result
            }
            let caller = operation.operationEnvironment.callerContexts.capture()
            stream.body = stream.body.onEnd { count, error in caller.run { self.end(count, error, of: head) } }
            var result = result
            result.content = .stream(stream)
            return result
        }
        return result
    }

    private func failure(_ error: NetworkError) {
        if style == .exchanges { return exchange(endedBy: error) }
        if let response = NetworkResponse(of: error) { return self.response(response) }
        hops(error.metrics?.hops ?? [])
        let url = error.request?.urlText ?? operation.transfer.head.urlText
        failure(error, url: url, after: error.metrics?.total)
    }

    // MARK: - One line

    private func exchange(_ response: NetworkResponse, _ count: Int) {
        var outcome = "\(response.status.code)"
        if operation.kind.isGraphQL, response.data.isObject(without: ""), !response.data.isObject(without: "errors") {
            outcome += " with GraphQL errors"
        }
        let (attempts, redirects) = (attempts, response.metrics.redirects)
        if attempts > 1 { outcome += " after \(attempts) attempts" }
        if redirects > 0 {
            outcome += attempts > 1 ? " and" : " after"
            outcome += " \(counted(redirects, "redirect"))"
        }
        let cache = response.cacheStatus.map { "cache \($0); " } ?? ""
        exchange(outcome, "\(cache)\(counted(count, "byte")) of \(redactor.mediaType(response.rawHead.contentType))")
    }

    private func exchange(endedBy error: NetworkError) {
        if error.kind == .status, let response = NetworkResponse(of: error) {
            return exchange(response, response.data.count)
        }
        let message = redactor.redact(text: error.message)
        let attempts = attempts
        exchange(attempts == 1 ? message : "\(message) after \(attempts) attempts")
    }

    private func exchange(_ outcome: String, _ body: String? = nil) {
        var line = operation.logName
        line += " -> \(outcome) in \((ContinuousClock.now - start).milliseconds) ms"
        // The line already contains the name of a subscription.
        let title = operation.kind == .subscription ? nil : operation.title
        if let title {
            line += " [\(title)"
            if let body { line += "; \(body)" }
            line += "]"
        } else if let body {
            line += " [\(body)]"
        }
        log(line)
    }

    private func log(_ message: String) {
        operation.logger.log(NetworkMessage(message))
    }

    // MARK: - Messages

    private func hops(_ hops: [TransferMetrics.Hop]) {
        for hop in hops {
            let message = Log.NetworkResponse(
                status: hop.status,
                url: operation.redactedURL(hop.url),
                duration: hop.duration
            )
            operation.logger.log(Log.network(.httpResponse(response: message)))
        }
    }

    private func response(_ response: NetworkResponse, _ body: HTTPBody? = nil) {
        hops(response.metrics.hops)
        let fields = response.response.headerFields
        let message = Log.NetworkResponse(
            status: response.status.code,
            url: operation.redactedURL(response.url),
            headers: headers(fields),
            body: summary(of: body ?? HTTPBody(response.data), fields),
            duration: response.metrics.total
        )
        operation.logger.log(Log.network(.httpResponse(response: message)))
    }

    private func end(_ count: Int64, _ error: NetworkError?, of response: NetworkResponse) {
        if style == .exchanges {
            if let error { return exchange(endedBy: error) }
            return exchange(response, Int(count))
        }
        let duration = ContinuousClock.now - start
        let body = "read \(counted(Int(count), "byte"))"
        if let error { return failure(error, url: response.url, after: duration, body: body) }
        let message = Log.NetworkResponse(
            status: response.status.code,
            url: operation.redactedURL(response.url),
            body: body,
            duration: duration
        )
        operation.logger.log(Log.network(.httpResponse(response: message)))
    }

    private func failure(_ error: NetworkError, url: String, after duration: Duration?, body: String? = nil) {
        let message = Log.NetworkResponse(
            status: nil,
            url: operation.redactedURL(url),
            body: body,
            duration: duration,
            failure: redactor.redact(text: error.message)
        )
        operation.logger.log(Log.network(.httpResponse(response: message)))
    }

    private func headers(_ fields: HTTPFields) -> [Log.Header] {
        redactor.redact(fields).map { Log.Header(name: $0.name, value: $0.value) }
    }

    private func summary(of body: HTTPBody, _ fields: HTTPFields) -> String {
        let contentType = fields[.contentType]
        if let data = body.data { return redactor.summary(of: data, contentType: contentType) }
        let size = body.length.map { counted(Int($0), "byte") } ?? "a stream"
        return contentType.map { "\(size) of \(redactor.mediaType($0))" } ?? size
    }
}

/// A log message about an operation.
struct NetworkMessage: LogType {
    let message: String
    let level: LogLevel

    init(_ message: String, _ level: LogLevel = .debug) {
        self.message = message
        self.level = level
    }

    var category: String { "Network" }
}
