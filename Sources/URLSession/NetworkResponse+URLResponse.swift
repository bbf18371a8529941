public import BeagleNet

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension NetworkResponse {
    /// What a `URLSession` answered.
    ///
    /// A response without HTTP (to a `file:` or `data:` URL) has no status: it counts as 200, with its media type as
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
