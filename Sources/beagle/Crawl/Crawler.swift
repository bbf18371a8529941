import BeagleNet
import BeagleNetHTTP
import Foundation

/// Requests a screen and the screens that it leads to, on the origin of the first one.
///
/// Screens are requested in the order of their distance from the first one, and each once. Targets at the same distance
/// are requested concurrently; the result doesn't depend on the order of their responses.
struct Crawler {
    /// Requests a target. Throws only if the crawl is cancelled.
    typealias Fetch = @Sendable (CrawlTarget) async throws -> CrawlResponse

    let base: URL
    let origin: Origin
    /// The maximum number of routes from the first screen.
    let depth: Int
    let maxRequests: Int
    /// The maximum number of requests at the same time.
    let concurrency: Int
    let fetch: Fetch

    /// Crawls from a screen until everything is requested that the limits allow.
    func crawl(from start: CrawlTarget) async throws -> CrawlResult {
        var result = CrawlResult(start: start)
        var known: Set = [start]
        var waiting = [(target: start, depth: 0)]
        while let nearest = waiting.map(\.depth).min() {
            let due = waiting.filter { $0.depth == nearest }.map(\.target)
            waiting.removeAll { $0.depth == nearest }
            let sent = due.prefix(maxRequests - result.pages.count)
            result.unrequestedCount += due.count - sent.count
            for page in try await pages(of: Array(sent), depth: nearest) {
                result.add(page)
                for reference in page.references {
                    guard let target = reference.target, !known.contains(target) else { continue }
                    let targetDepth = nearest + (reference.isStep ? 1 : 0)
                    guard targetDepth <= depth else {
                        result.tooDeep.insert(target)
                        continue
                    }
                    known.insert(target)
                    waiting.append((target, targetDepth))
                }
            }
        }
        result.tooDeep.subtract(known)
        return result
    }

    /// Returns the pages in the order of the targets. A page is created as soon as its response arrives, so that no more
    /// than `concurrency` screens are in memory.
    private func pages(of targets: [CrawlTarget], depth: Int) async throws -> [CrawlPage] {
        try await withThrowingTaskGroup(of: (Int, CrawlPage).self) { group in
            var pages = [CrawlPage?](repeating: nil, count: targets.count)
            for (index, target) in targets.enumerated() {
                if index >= concurrency, let (index, page) = try await group.next() { pages[index] = page }
                group.addTask { (index, try await page(of: target, depth: depth)) }
            }
            for try await (index, page) in group { pages[index] = page }
            return pages.compactMap(\.self)
        }
    }

    private func page(of target: CrawlTarget, depth: Int) async throws -> CrawlPage {
        CrawlPage(target, depth: depth, try await fetch(target), base: base, origin: origin)
    }
}
