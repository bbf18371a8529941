public import BeagleNet

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension Log.NetworkRequest {
    /// Creates a log entry for this request, with its secrets redacted.
    public init(url request: URLRequest) {
        let fields = HTTPFields(request.allHTTPHeaderFields ?? [:])
        self.init(
            method: request.httpMethod ?? "GET",
            url: Redactor().redact(url: request.url?.absoluteString ?? ""),
            headers: fields.shown,
            body: request.httpBody.map { Redactor().summary(of: $0, contentType: fields[.contentType]) }
        )
    }
}

extension Log.NetworkResponse {
    /// Creates a log entry for this response, with its secrets redacted; a missing response is logged as a failure.
    public init(data: Data?, response: URLResponse?) {
        guard let response else {
            self.init(status: nil, url: "", failure: "no response")
            return
        }
        let head = (response as? HTTPURLResponse).map { HTTPResponse($0) }
        self.init(
            status: head?.status.code,
            url: Redactor().redact(url: response.url?.absoluteString ?? ""),
            headers: head?.headerFields.shown ?? [],
            body: Redactor().summary(of: data, contentType: response.mimeType)
        )
    }
}

extension HTTPFields {
    fileprivate var shown: [Log.Header] {
        Redactor().redact(self).map { Log.Header(name: $0.name, value: $0.value) }
    }
}
