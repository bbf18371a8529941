import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder

/// What a client tells its logger. Nothing is put together that the logger does not accept.
struct NetworkLog {
    let logger: any BeagleLogger
    let redactor: Redactor
    /// Whether queries are left out whole: those of a form hold what a person typed.
    var hidesQueries = false

    func request(_ transfer: TransferRequest) {
        guard logger.accepts(.info) else { return }
        let fields = transfer.head.headerFields
        let request = Log.NetworkRequest(
            method: transfer.head.method.rawValue,
            url: shown(transfer.head.urlText),
            headers: headers(fields),
            body: transfer.body.map { summary(of: $0, fields) }
        )
        logger.log(Log.network(.httpRequest(request: request)))
    }

    func result(_ result: Result<TransferResponse, NetworkError>, of request: HTTPRequest) {
        switch result {
        case .success(let response): self.response(response)
        case .failure(let error): failure(error, url: request.urlText)
        }
    }

    func refusal(_ error: NetworkError, of request: Request) {
        let url = request.url.absoluteString
        guard error.kind == .badURL else { return failure(error, url: url) }
        guard logger.accepts(.error) else { return }
        logger.log(Log.network(.couldNotBuildUrl(url: redactor.redact(url: url))))
    }

    private func response(_ response: TransferResponse) {
        guard logger.accepts(.info) else { return }
        let fields = response.head.headerFields
        let message = Log.NetworkResponse(
            status: response.head.status.code,
            url: shown(response.url),
            headers: headers(fields),
            body: summary(of: response.body, fields),
            duration: response.metrics.total
        )
        logger.log(Log.network(.httpResponse(response: message)))
    }

    /// Being cancelled is no fault.
    private func failure(_ error: NetworkError, url: String) {
        let level: LogLevel = error.isCancelled ? .info : .error
        guard logger.accepts(level) else { return }
        let message = Log.NetworkResponse(
            status: nil,
            url: shown(url),
            duration: error.metrics?.total,
            failure: error.message,
            level: level
        )
        logger.log(Log.network(.httpResponse(response: message)))
    }

    private func shown(_ url: String) -> String {
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
        return contentType.map { "\(size) of \($0)" } ?? size
    }
}
