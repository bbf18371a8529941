import BeagleNet
import BeagleNetHTTP
import Foundation
import Testing

@testable import beagle

struct CrawlerTests {
    @Test func eachTargetIsRequestedOnce() async throws {
        let site = ScriptedSite([
            "/": .screen(routeButton("/a"), routeButton("/a#top"), routeButton("/b"), remoteImage("/i")),
            "/a": .screen(routeButton("/b"), remoteImage("/i")), "/b": .screen(routeButton("/")),
            "/i": .init(image: Data()),
        ])
        let crawl = try await site.crawl()
        #expect(site.requests == ["/", "/a", "/b", "/i"])
        #expect(crawl.pages.map { ScriptedSite.origin.path(of: $0.target.url) } == ["/", "/i", "/a", "/b"])
        #expect(crawl.screens.count == 3 && crawl.tooDeep.isEmpty && crawl.unrequestedCount == 0)
    }

    @Test func depthLimitsRoutesButNotLazyComponentsAndImages() async throws {
        let site = ScriptedSite([
            "/": .screen(routeButton("/1"), lazyComponent("/lazy")), "/lazy": .screen(remoteImage("/i")),
            "/1": .screen(routeButton("/2"), lazyComponent("/lazy1")), "/lazy1": .screen(), "/2": .screen(),
            "/i": .init(image: Data()),
        ])
        let crawl = try await site.crawl(depth: 1)
        #expect(site.requests == ["/", "/1", "/i", "/lazy", "/lazy1"])
        #expect(crawl.tooDeep.map(\.url) == ["https://site/2"])
    }

    @Test func requestsAreLimited() async throws {
        let buttons = (0..<10).map { routeButton("/\($0)") }.joined(separator: ",")
        let site = ScriptedSite(["/": .screen(buttons)])
        let crawl = try await site.crawl(maxRequests: 4, concurrency: 2)
        #expect(site.requests == ["/", "/0", "/1", "/2"])
        #expect(crawl.unrequestedCount == 7)
    }

    /// A screen is in memory only until its references are read.
    @Test func screensOfALevelAreNotKept() async throws {
        let living = Lock((now: 0, most: 0))
        let buttons = (0..<50).map { routeButton("/\($0)") }.joined(separator: ",")
        let base = try #require(URL(string: "https://site/"))
        let crawler = Crawler(base: base, origin: ScriptedSite.origin, depth: 1, maxRequests: 100, concurrency: 1) {
            target in
            let text = ScriptedSite.Page.screen(target.url == "https://site/" ? buttons : routeButton("/0")).document
            let screen = try ParsedScreen(parsing: counted(text, in: living))
            return CrawlResponse(duration: .zero, content: .success(.screen(screen)))
        }
        let crawl = try await crawler.crawl(from: CrawlTarget(base))
        #expect(crawl.screens.count == 51)
        #expect(living.withLock(\.most) < 5)
    }

    /// Unsafe methods, bodies, other origins and undeclared URLs are never requested.
    @Test func onlySafeRequestsToTheOriginAreSent() async throws {
        let site = ScriptedSite([
            "/": .screen(
                routeButton("/post", #","httpAdditionalData":{"method":"POST"}"#),
                routeButton("/body", #","httpAdditionalData":{"method":"GET","body":{"a":1}}"#),
                routeButton("https://other/a"),
                routeButton("http://site/a"),
                routeButton("https://site:444/a"),
                routeButton("//other/a"),
                routeButton("@{a.b}"),
                routeButton("ftp://site/a"),
                routeButton("other"),
                remoteImage("data:image/png;base64,AA"),
                #"{"_beagleComponent_":"custom:a","u":"https://site/u"}"#,
                #"{"_beagleComponent_":"beagle:webView","url":"https://site/web"}"#
            )
        ])
        _ = try await site.crawl()
        // A path that begins with two slashes is a path, as in the app.
        #expect(site.requests == ["/", "//other/a"])
    }

    @Test func cancelledCrawlEnds() async throws {
        let base = try #require(URL(string: "https://site/"))
        let crawler = Crawler(
            base: base,
            origin: ScriptedSite.origin,
            depth: 1,
            maxRequests: 10,
            concurrency: 1,
            fetch: { _ in throw CancellationError() }
        )
        await #expect(throws: CancellationError.self) { _ = try await crawler.crawl(from: CrawlTarget(base)) }
    }
}

/// Returns a text as data that is counted while it is in memory.
private func counted(_ text: String, in living: Lock<(now: Int, most: Int)>) -> Data {
    let count = text.utf8.count
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 1)
    UnsafeMutableRawBufferPointer(start: bytes, count: count).copyBytes(from: text.utf8)
    living.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
    return Data(
        bytesNoCopy: bytes,
        count: count,
        deallocator: .custom { pointer, _ in
            pointer.deallocate()
            living.withLock { $0.now -= 1 }
        }
    )
}
