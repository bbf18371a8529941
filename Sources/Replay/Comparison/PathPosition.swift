/// The matching state of several paths at a place in a JSON text.
///
/// The state of a path is a word. Its bit `i` is set if the place matches the first `i` steps.
struct PathPosition {
    private let paths: [JSONPath]
    private var states: [UInt64]

    /// Creates the state at the root.
    init(_ paths: [JSONPath]) {
        self.paths = paths
        states = paths.map { _ in 1 }
    }

    /// Returns whether the place matches the path with this index.
    func fits(_ index: Int) -> Bool { states[index] >> UInt64(paths[index].steps.count) & 1 == 1 }

    /// Returns the index of the first path in a range that the place matches.
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
