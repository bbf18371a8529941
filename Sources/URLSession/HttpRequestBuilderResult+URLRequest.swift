public import BeagleNet

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension HttpRequestBuilder.Result {
    /// The message as a request: past all caches, with a limit of 100 s between two bytes, as the seed has it.
    ///
    /// A message that could not be built never goes out, even where nobody asks for `error`: the request then names a
    /// URL that no `URLSession` loads, so that its task fails with `URLError.unsupportedURL`, and
    /// `NetworkError(error:data:request:response:)` gives back the builder's own error. The same holds for a body that
    /// is not in memory.
    public func toUrlRequest() -> URLRequest {
        do throws(NetworkError) {
            guard let request else { throw error ?? NetworkError(.badRequest, during: .build, "there is no request") }
            return try URLRequest(request)
        } catch {
            return URLRequest(refusal: error, of: url)
        }
    }
}
