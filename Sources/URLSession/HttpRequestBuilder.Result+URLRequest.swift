public import BeagleNet

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension HttpRequestBuilder.Result {
    /// Returns the built request, which bypasses all caches and times out after 100 s without data, as in the seed.
    ///
    /// If building failed, the request is never sent, even if the app doesn't check `error`. It then has a URL that no
    /// `URLSession` loads, so that its task fails with `URLError.unsupportedURL`, and
    /// `NetworkError(error:data:request:response:)` returns the builder's error. The same applies to a body that isn't
    /// in memory.
    public func toUrlRequest() -> URLRequest {
        do throws(NetworkError) {
            guard let request else { throw error ?? NetworkError(.badRequest, during: .build, "there is no request") }
            return try URLRequest(request)
        } catch {
            return URLRequest(buildError: error, of: url)
        }
    }
}
