public import BeagleNet

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension NetworkResponse {
    /// Creates a response from the result of a `URLSession`.
    ///
    /// A non-HTTP response (to a `file:` or `data:` URL) has no status, so it gets status 200 and its media type as
    /// `Content-Type`.
    public init(data: Data, response: URLResponse) {
        self.init(
            data: data,
            response: (response as? HTTPURLResponse).map { HTTPResponse($0) } ?? HTTPResponse(withoutHTTP: response),
            url: response.url?.absoluteString ?? ""
        )
    }
}

extension HTTPResponse {
    fileprivate init(withoutHTTP response: URLResponse) {
        self.init(status: .ok)
        headerFields[.contentType] = response.mimeType
    }
}
