import Foundation

/// The screens and images that a crawl has requested, and what its limits left out.
struct CrawlResult: Sendable {
    let start: CrawlTarget
    /// The screens and images in the order in which they were found, the first screen first.
    private(set) var pages: [CrawlPage] = []
    private var indices: [CrawlTarget: Int] = [:]
    /// The number of targets that weren't requested because there were too many.
    var unrequestedCount = 0
    /// The targets that are too many routes away from the first screen.
    var tooDeep: Set<CrawlTarget> = []

    init(start: CrawlTarget) {
        self.start = start
    }

    mutating func add(_ page: CrawlPage) {
        indices[page.target] = pages.count
        pages.append(page)
    }

    /// Returns the index of a target's page, or `nil` if the target wasn't requested.
    func index(of target: CrawlTarget) -> Int? { indices[target] }

    var screens: [CrawlPage] { pages.filter(\.isScreen) }
}
