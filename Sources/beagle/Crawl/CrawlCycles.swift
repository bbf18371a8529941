import BeagleNet

/// The references of a crawl that lead back to a screen before them.
struct CrawlCycles {
    enum Cycle: Sendable {
        /// A route, or a lazy component of the screen behind one, leads back to a screen.
        case route
        /// A lazy component is loaded by itself, directly or through others.
        case lazy
    }

    private struct Place: Hashable {
        let page: Int
        let reference: Int
    }

    /// The progress of the search through the references of a page.
    private struct Step {
        let page: Int
        var next = 0
    }

    private let crawl: CrawlResult
    private var cycles: [Place: Cycle] = [:]

    init(_ crawl: CrawlResult) {
        self.crawl = crawl
        // A lazy component that loads itself is found by both searches; the second says that no route is needed.
        search(.route) { $0.kind == .lazy || $0.isStep }
        search(.lazy) { $0.kind == .lazy }
    }

    /// Returns the cycle that a reference of a page closes, or `nil`.
    func cycle(at page: Int, _ reference: Int) -> Cycle? { cycles[Place(page: page, reference: reference)] }

    /// Searches depth-first, without recursion because a crawl may be deep.
    private mutating func search(_ cycle: Cycle, through isEdge: (CrawlReference) -> Bool) {
        var (visited, open) = (Set<Int>(), Set<Int>())
        for root in crawl.pages.indices where visited.insert(root).inserted {
            var path = [Step(page: root)]
            open.insert(root)
            while let step = path.last {
                let references = crawl.pages[step.page].references
                guard step.next < references.count else {
                    open.remove(step.page)
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let reference = references[step.next]
                guard isEdge(reference), let target = reference.target, let page = crawl.index(of: target) else {
                    continue
                }
                if open.contains(page) {
                    cycles[Place(page: step.page, reference: step.next)] = cycle
                } else if visited.insert(page).inserted {
                    open.insert(page)
                    path.append(Step(page: page))
                }
            }
        }
    }
}
