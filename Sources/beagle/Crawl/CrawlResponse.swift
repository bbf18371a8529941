import BeagleNet
import BeagleNetHTTP

/// The response to a request of a crawl.
struct CrawlResponse: Sendable {
    enum Content: Sendable {
        case screen(ParsedScreen)
        /// An action, which the response to a form may be.
        case action
        /// An image; its header is `nil` if the format has none.
        case image(ImageHeader.Format, ImageHeader?)
        /// A redirect that wasn't followed, to a URL if the server gave one.
        case redirect(String?)
    }

    /// The time from the request to the end of the response.
    var duration: Duration
    /// The size of the decoded body in bytes.
    var bytes = 0
    /// The contents, or the failure.
    var content: Result<Content, Failure>
}
