/// How far paths have come at a place of a document; what is below takes it on by a step.
///
/// A path's state is a word whose bit `i` says that the place fits its first `i` steps.
struct PathPosition {
    private let paths: [JSONPath]
    private var states: [UInt64]

    /// The root of a document.
    init(_ paths: [JSONPath]) {
        self.paths = paths
        states = paths.map { _ in 1 }
    }

    /// Whether the place is one of the path's with this number.
    func fits(_ index: Int) -> Bool { states[index] >> UInt64(paths[index].steps.count) & 1 == 1 }

    /// The number of the first of these paths that the place fits.
    func first(in range: Range<Int>) -> Int? { range.first { fits($0) } }

    func member(_ name: String) -> PathPosition { next { $0 == .any || $0 == .member(name) } }

    func element(_ index: Int) -> PathPosition { next { $0 == .any || $0 == .element(index) } }

    private func next(_ fits: (JSONPath.Step) -> Bool) -> PathPosition {
        guard !paths.isEmpty else { return self }
        var position = self
        for (index, path) in paths.enumerated() {
            var state: UInt64 = 0
            for (done, step) in path.steps.enumerated() where states[index] >> UInt64(done) & 1 == 1 {
                if fits(step) { state |= 1 << UInt64(done + 1) }
                if path.isDeep[done] { state |= 1 << UInt64(done) }
            }
            position.states[index] = state
        }
        return position
    }
}
