import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// A screen, lazy component or image that a crawl has requested.
struct CrawlPage: Sendable {
    let target: CrawlTarget
    /// The number of routes from the first screen.
    let depth: Int
    let duration: Duration
    let bytes: Int
    /// The references, in the order of the document; empty if the response isn't a screen.
    let references: [CrawlReference]
    /// The number of references that were left out because the screen has too many.
    let omittedCount: Int
    /// Whether the response is a screen or a component.
    let isScreen: Bool
    /// The reason why the response can't be used, or `nil`.
    let failure: Failure?
    /// The target of a redirect that wasn't followed; `nil` without a redirect, or without a URL in it.
    let redirect: URL?

    init(_ target: CrawlTarget, depth: Int, _ response: CrawlResponse, base: URL, origin: Origin) {
        self.target = target
        self.depth = depth
        duration = response.duration
        bytes = response.bytes
        var (references, omittedCount) = ([CrawlReference](), 0)
        var (isScreen, failure, redirect) = (false, Failure?.none, URL?.none)
        switch response.content {
        case .success(.screen(let screen)):
            isScreen = true
            references = screen.plan.references.map { CrawlReference($0, base: base, origin: origin) }
            omittedCount = screen.plan.omittedCount
        case .success(.redirect(let location)):
            redirect = location.flatMap { URL(string: $0, relativeTo: URL(string: target.url))?.absoluteURL }
            failure = .notFollowed(redirect)
        case .success(.action), .success(.image): break
        case .failure(let reason): failure = reason
        }
        self.references = references
        self.omittedCount = omittedCount
        self.isScreen = isScreen
        self.failure = failure
        self.redirect = redirect
    }
}

extension Failure {
    fileprivate static func notFollowed(_ url: URL?) -> Failure {
        Failure(
            exit: ExitCode.invalidContent,
            code: "redirect",
            phase: .redirect,
            url.map { "the redirect was not followed: \($0.absoluteString)" }
                ?? "the server redirects without a valid URL"
        )
    }
}
