import BeagleNetHTTP
public import BeagleNetRequestBuilder

extension Form {
    /// A form store in memory.
    public final class MemoryStore: Store {
        private let groups = Lock<[String: [FormField]]>([:])

        /// Creates an empty store.
        public init() {}

        /// Returns the stored fields of a group.
        public func fields(of group: String) -> [FormField] {
            groups.withLock { $0[group] ?? [] }
        }

        /// Stores fields in a group.
        public func save(_ fields: [FormField], replacing names: Set<String>, in group: String) {
            groups.withLock { $0[group] = ($0[group] ?? []).filter { !names.contains($0.name) } + fields }
        }

        /// Deletes a group.
        public func clear(_ group: String) {
            groups.withLock { $0[group] = nil }
        }
    }
}
