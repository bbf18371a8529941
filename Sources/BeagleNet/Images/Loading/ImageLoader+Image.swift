public import BeagleNetCache
public import BeagleNetHTTP
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageLoader {
    /// The bytes of an image that an `ImageLoader` has loaded. They aren't decoded.
    public struct Image: Sendable {
        /// The bytes.
        public let data: Data
        /// The format; `nil` if it is unknown, although the server said that it is an image.
        public let format: ImageHeader.Format?
        /// The declared size; `nil` if the image has none, such as SVG.
        public let header: ImageHeader?
        /// The URL of the image, after redirects; empty for a `data:` URL.
        public let url: String
        /// The origin of the bytes; `.cache` for a `data:` URL.
        public let source: NetworkOperation.Result.Source
        /// The part that stored responses had, with the age of a stored image; `nil` without a `CacheInterceptor`.
        public let cacheStatus: CacheStatus?
        /// The status and header fields of the response.
        public let response: HTTPResponse

        /// Whether the image is stored and may be outdated.
        public var isStale: Bool { cacheStatus?.isStale ?? false }

        /// Reads the format and the size.
        init(
            _ data: Data,
            from source: NetworkOperation.Result.Source,
            _ response: HTTPResponse,
            url: String = "",
            _ cacheStatus: CacheStatus? = nil
        ) {
            self.data = data
            self.source = source
            self.response = response
            self.url = url
            self.cacheStatus = cacheStatus
            format = ImageHeader.Format(of: data)
            header = ImageHeader(of: data)
        }

        /// Throws an error of kind `.decoding` if neither the bytes nor the server say that this is an image.
        func checked() throws(NetworkError) -> Image {
            let type = response.headerFields[single: .contentType] ?? ""
            if format != nil || type.lowercased().hasPrefix("image/") { return self }
            var error = NetworkError(
                .decoding,
                during: .response,
                data.isEmpty
                    ? "the image is empty"
                    : "the response is not an image: it is \(type.isEmpty ? "unknown data" : type)",
                advice: "check the URL, or add a fallback"
            )
            (error.response, error.url) = (response, url)
            throw error
        }
    }
}
