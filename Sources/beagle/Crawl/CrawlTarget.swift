import BeagleNet
import BeagleNetHTTP
import Foundation

/// A screen, lazy component or image that a crawl requests.
struct CrawlTarget: Sendable, Hashable {
    /// The URL without its fragment, which isn't sent.
    let url: String
    let kind: Kind
    /// The header fields that the referring screen asks for.
    let headers: [String: String]

    /// The expected content of the response.
    enum Kind: Sendable {
        /// A screen or a lazy component.
        case screen
        case image
        /// A screen, or the action that the response to a form may be.
        case form
    }

    init(_ url: URL, _ kind: Kind = .screen, headers: [String: String] = [:]) {
        self.url = String(url.absoluteString.prefix { $0 != "#" })
        self.kind = kind
        self.headers = headers
    }

    var isImage: Bool { kind == .image }
}
