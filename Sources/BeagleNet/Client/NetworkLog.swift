import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder

/// What the client tells the logger. Nothing is put together for a logger that does not want it.
extension BeagleLogger {
    func log(request: TransferRequest) {
        guard accepts(.info) else { return }
        let message = Log.NetworkRequest(
            method: request.head.method.rawValue,
            url: Redactor().redact(url: request.head.urlText),
            headers: request.head.headerFields.redacted,
            body: request.body.map { $0.summary(request.head.headerFields[.contentType]) }
        )
        log(Log.network(.httpRequest(request: message)))
    }

    func log(_ result: Result<TransferResponse, NetworkError>, of request: HTTPRequest) {
        switch result {
        case .success(let response): log(response)
        case .failure(let error): log(failure: error, url: request.urlText)
        }
    }

    func log(refusal error: NetworkError, of request: Request) {
        let url = request.url.absoluteString
        guard error.kind == .badURL else { return log(failure: error, url: url) }
        if accepts(.error) { log(Log.network(.couldNotBuildUrl(url: Redactor().redact(url: url)))) }
    }

    private func log(_ response: TransferResponse) {
        guard accepts(.info) else { return }
        let message = Log.NetworkResponse(
            status: response.head.status.code,
            url: Redactor().redact(url: response.url),
            headers: response.head.headerFields.redacted,
            body: response.body.summary(response.head.headerFields[.contentType]),
            duration: response.metrics.total
        )
        log(Log.network(.httpResponse(response: message)))
    }

    /// Being cancelled is no fault.
    private func log(failure error: NetworkError, url: String) {
        let level: LogLevel = error.isCancelled ? .info : .error
        guard accepts(level) else { return }
        let message = Log.NetworkResponse(
            status: nil,
            url: Redactor().redact(url: url),
            duration: error.metrics?.total,
            failure: error.message,
            level: level
        )
        log(Log.network(.httpResponse(response: message)))
    }
}

extension HTTPFields {
    fileprivate var redacted: [Log.Header] {
        Redactor().redact(self).map { Log.Header(name: $0.name, value: $0.value) }
    }
}

extension HTTPBody {
    fileprivate func summary(_ contentType: String?) -> String {
        if let data { return Redactor().summary(of: data, contentType: contentType) }
        let size = length.map { "\($0) bytes" } ?? "a stream"
        return contentType.map { "\(size) of \($0)" } ?? size
    }
}
