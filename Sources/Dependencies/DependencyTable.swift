/// A table of dependencies by their keys; there are few, so comparing all keys is faster than hashing one.
struct DependencyTable: Sendable {
    private var keys: [ObjectIdentifier] = []
    private var values: [any AnyDependencyBox] = []

    subscript(key: ObjectIdentifier) -> (any AnyDependencyBox)? {
        get { keys.firstIndex(of: key).map { values[$0] } }
        set {
            let index = keys.firstIndex(of: key)
            switch (index, newValue) {
            case (let index?, let value?): values[index] = value
            case (let index?, nil):
                keys.remove(at: index)
                values.remove(at: index)
            case (nil, let value?):
                keys.append(key)
                values.append(value)
            case (nil, nil): break
            }
        }
    }

    /// Removes all values except those of `kept`.
    mutating func keep(_ kept: Set<ObjectIdentifier>) {
        for key in keys where !kept.contains(key) { self[key] = nil }
    }

    /// Removes the values that scopes for tests and previews don't inherit.
    mutating func removeLiveOnly() {
        for (key, value) in zip(keys, values) where value.isLiveOnly { self[key] = nil }
    }
}

/// A box for a dependency, so that an optional value of `nil` differs from a missing value.
protocol AnyDependencyBox: AnyObject, Sendable {
    /// Whether scopes for tests and previews don't inherit it.
    var isLiveOnly: Bool { get }
}
