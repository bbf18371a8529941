import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import BeagleNetTesting
import Foundation
import Testing

@testable import beagle

/// A site of screens for tests of the crawler, without a server.
final class ScriptedSite: Sendable {
    /// A response of the site.
    struct Page: Sendable {
        var document = ""
        var image: Data?
        var duration = Duration.zero
        var failure: Failure?
        var redirect: String?
    }

    static let origin = Origin(scheme: "https", host: "site")
    private let pages: [String: Page]
    private let sent = Lock<[String]>([])

    /// - Parameter pages: The pages by path and query; others are missing.
    init(_ pages: [String: Page]) {
        self.pages = pages
    }

    /// The paths of all requests, sorted.
    var requests: [String] { sent.withLock(\.self).sorted() }

    /// Crawls the site from `/`.
    func crawl(depth: Int = 3, maxRequests: Int = 200, concurrency: Int = 4) async throws -> CrawlResult {
        let base = try #require(URL(string: "https://site/"))
        let crawler = Crawler(
            base: base,
            origin: Self.origin,
            depth: depth,
            maxRequests: maxRequests,
            concurrency: concurrency,
            fetch: response
        )
        return try await crawler.crawl(from: CrawlTarget(base))
    }

    /// Crawls the site from `/`, and returns the findings.
    func findings(_ limits: CrawlLimits = CrawlLimits(), depth: Int = 3) async throws -> [CrawlFinding] {
        CrawlInspection.findings(of: try await crawl(depth: depth), limits)
    }

    private func response(to target: CrawlTarget) async throws -> CrawlResponse {
        let path = Self.origin.path(of: target.url)
        sent.withLock { $0.append(path) }
        guard let page = pages[path] else {
            return CrawlResponse(duration: .zero, content: .failure(.status("404 Not Found")))
        }
        var response = CrawlResponse(duration: page.duration, content: .success(.action))
        if let failure = page.failure {
            response.content = .failure(failure)
        } else if let redirect = page.redirect {
            response.content = .success(.redirect(redirect))
        } else if let image = page.image {
            response.bytes = image.count
            response.content = .success(.image(.png, nil))
        } else {
            response.bytes = page.document.utf8.count
            response.content = .success(.screen(try ParsedScreen(parsing: Data(page.document.utf8))))
        }
        return response
    }
}

extension ScriptedSite.Page {
    /// A screen with these components.
    static func screen(_ components: String...) -> Self {
        Self(document: #"{"_beagleComponent_":"beagle:container","children":[\#(components.joined(separator: ","))]}"#)
    }
}

extension Failure {
    static func status(_ message: String) -> Failure {
        Failure(exit: ExitCode.httpError, code: "status", phase: .response, message)
    }
}

/// Returns a button that leads to a screen.
func routeButton(_ url: String, _ more: String = "") -> String {
    """
    {"_beagleComponent_":"beagle:button","text":"a","onPress":[{"_beagleAction_":"beagle:pushView",\
    "route":{"url":"\(url)"\(more)}}]}
    """
}

/// Returns a component that loads a screen lazily.
func lazyComponent(_ path: String) -> String { #"{"_beagleComponent_":"beagle:lazyComponent","path":"\#(path)"}"# }

/// Returns an image component.
func remoteImage(_ url: String) -> String {
    #"{"_beagleComponent_":"beagle:image","path":{"_beagleImagePath_":"remote","url":"\#(url)"}}"#
}

extension LoopbackServer.Request {
    /// Whether the request has a header field.
    func has(_ name: String) -> Bool { fields.contains { $0.name.lowercased() == name } }
}
