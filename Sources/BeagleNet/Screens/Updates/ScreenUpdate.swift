public import BeagleNetHTTP

/// A change of a screen that the server sends, or that lies between a stored and a newer screen.
///
/// ```swift
/// let result = try update.applied(to: screen)
/// show(result.screen, changed: result.changedIDs)
/// ```
public enum ScreenUpdate: Sendable, Hashable {
    /// A screen in the place of the whole one.
    case screen(JSONValue)
    /// A JSON Patch (RFC 6902).
    case patch(JSONPatch)
    /// A JSON Merge Patch (RFC 7396): its members replace those of the screen, and `null` removes.
    case mergePatch(JSONValue)
    /// Components by their `id`.
    ///
    /// `isTransactional` says whether all changes must match a component, or none is applied.
    case components([ComponentChange], isTransactional: Bool)

    /// The components that take the place of one.
    public struct ComponentChange: Sendable, Hashable {
        /// The `id` of the component.
        public var id: String
        /// The new components; none removes the component.
        public var components: [JSONValue]

        /// Describes a change.
        public init(id: String, components: [JSONValue]) {
            self.id = id
            self.components = components
        }
    }

    /// The result of an update.
    public struct Result: Sendable, Hashable {
        /// The changed screen.
        public var screen: JSONValue
        /// The components that were replaced or removed, if the update names them. Everything else is as it was, so that a
        /// view keeps what the user has typed there.
        public var changedIDs: [String]
        /// The components that the update names and that aren't in the screen.
        public var unmatchedIDs: [String]
    }

    /// Applies the update.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` if it can't be applied; the screen stays as it was.
    public func applied(to screen: JSONValue) throws(NetworkError) -> Result {
        switch self {
        case .screen(let new): return Result(screen: new, changedIDs: [], unmatchedIDs: [])
        case .patch(let patch): return Result(screen: try patch.applied(to: screen), changedIDs: [], unmatchedIDs: [])
        case .mergePatch(let patch):
            let merged = try screen.merged(with: patch).checkingDepth()
            return Result(screen: merged, changedIDs: [], unmatchedIDs: [])
        case .components(let changes, let isTransactional):
            var result = Result(screen: screen, changedIDs: [], unmatchedIDs: [])
            for change in changes {
                if result.screen.replaceComponent(change) {
                    result.screen = try result.screen.checkingDepth()
                    result.changedIDs.append(change.id)
                } else {
                    result.unmatchedIDs.append(change.id)
                }
            }
            if isTransactional, !result.unmatchedIDs.isEmpty {
                let ids = result.unmatchedIDs.joined(separator: ", ")
                throw .badUpdate("the screen has no component \(ids), or several components in a place for one")
            }
            return result
        }
    }
}

// MARK: - Reading

extension ScreenUpdate {
    /// Reads an update.
    ///
    /// An object with `changes`, an array of objects with `id` and `items`, changes components; `mode` is `partial`, the
    /// default, or `transactional`. Any other JSON is a screen.
    ///
    /// - Parameters:
    ///   - data: JSON.
    ///   - type: The media type. `application/json-patch+json` is a JSON Patch, and `application/merge-patch+json` a JSON
    ///     Merge Patch.
    /// - Throws: `NetworkError` of kind `.decoding`.
    public init(parsing data: Data, type: String = "application/json") throws(NetworkError) {
        let value = try JSONValue(parsing: data)
        switch type.prefix(while: { $0 != ";" }).lowercased() {
        case "application/json-patch+json": self = .patch(try JSONPatch(value))
        case "application/merge-patch+json": self = .mergePatch(value)
        default: self = try Self.components(value) ?? .screen(value)
        }
    }

    /// Reads an update from a server-sent event: the type `patch` is a JSON Patch, `merge` a JSON Merge Patch, and any
    /// other is read as `init(parsing:type:)` does.
    ///
    /// - Throws: `NetworkError` of kind `.decoding`.
    public init(_ event: EventStream.Event) throws(NetworkError) {
        let type =
            switch event.type {
            case "patch": "application/json-patch+json"
            case "merge": "application/merge-patch+json"
            default: "application/json"
            }
        try self.init(parsing: Data(event.data.utf8), type: type)
    }

    private static func components(_ value: JSONValue) throws(NetworkError) -> ScreenUpdate? {
        guard let changes = value["changes"]?.array, value["_beagleComponent_"] == nil else { return nil }
        var read: [ComponentChange] = []
        for (index, change) in changes.enumerated() {
            guard let id = change["id"]?.string else { throw .badUpdate("change \(index) has no id") }
            guard case .array(let components) = change["items"] ?? .array([]) else {
                throw .badUpdate("the items of change \(index) are not an array")
            }
            read.append(ComponentChange(id: id, components: components))
        }
        return .components(read, isTransactional: value["mode"]?.string == "transactional")
    }
}

// MARK: - Comparing

extension ScreenUpdate {
    /// The update that leads from a screen to a newer one: the smallest components with an `id` that contain all changes.
    ///
    /// - Returns: `nil` if the screens are equal. If a change isn't in a component with a unique `id`, the whole screen.
    public static func between(_ old: JSONValue, and new: JSONValue) -> ScreenUpdate? {
        if old == new { return nil }
        var counts: [String: Int] = [:]
        old.countIDs(&counts)
        var newCounts: [String: Int] = [:]
        new.countIDs(&newCounts)
        // A change must not be applied to a component of the same id inside of another change.
        for (id, count) in newCounts where count > 1 { counts[id] = count }
        guard let changes = old.changes(to: new, counts) else { return .screen(new) }
        return .components(changes, isTransactional: true)
    }
}

extension JSONValue {
    private var id: String? { self["id"]?.string }

    fileprivate func countIDs(_ counts: inout [String: Int]) {
        switch self {
        case .object(let members):
            if let id { counts[id, default: 0] += 1 }
            for member in members.values { member.countIDs(&counts) }
        case .array(let elements):
            for element in elements { element.countIDs(&counts) }
        default: break
        }
    }

    /// The changes to another value, or `nil` if only a component around it can be replaced.
    fileprivate func changes(to new: JSONValue, _ counts: [String: Int]) -> [ScreenUpdate.ComponentChange]? {
        if self == new { return [] }
        if let changes = innerChanges(to: new, counts) { return changes }
        guard let id, id == new.id, counts[id] == 1 else { return nil }
        return [ScreenUpdate.ComponentChange(id: id, components: [new])]
    }

    private func innerChanges(to new: JSONValue, _ counts: [String: Int]) -> [ScreenUpdate.ComponentChange]? {
        var changes: [ScreenUpdate.ComponentChange] = []
        switch (self, new) {
        case (.object(let old), .object(let new)):
            guard old.count == new.count else { return nil }
            for (name, member) in old.sorted(by: { $0.key < $1.key }) {
                guard let other = new[name], let inner = member.changes(to: other, counts) else { return nil }
                changes += inner
            }
        case (.array(let old), .array(let new)):
            guard old.count == new.count else { return nil }
            for (element, other) in zip(old, new) {
                guard let inner = element.changes(to: other, counts) else { return nil }
                changes += inner
            }
        default: return nil
        }
        return changes
    }

    /// Replaces the first component with the `id` of a change.
    ///
    /// - Returns: Whether there is one, and its place takes as many components.
    fileprivate mutating func replaceComponent(_ change: ScreenUpdate.ComponentChange) -> Bool {
        if id == change.id, case .object = self {
            guard change.components.count == 1 else { return false }
            self = change.components[0]
            return true
        }
        switch self {
        case .object(var members):
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                if member.id == change.id, change.components.isEmpty {
                    members.removeValue(forKey: name)
                    self = .object(members)
                    return true
                }
                var changed = member
                guard changed.replaceComponent(change) else { continue }
                members[name] = changed
                self = .object(members)
                return true
            }
        case .array(var elements):
            for (index, element) in elements.enumerated() {
                if element.id == change.id {
                    elements.replaceSubrange(index...index, with: change.components)
                    self = .array(elements)
                    return true
                }
                var changed = element
                guard changed.replaceComponent(change) else { continue }
                elements[index] = changed
                self = .array(elements)
                return true
            }
        default: break
        }
        return false
    }

    /// The value after a merge patch (RFC 7396, 2).
    fileprivate func merged(with patch: JSONValue) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        var members = object ?? [:]
        for (name, change) in changes {
            if change == .null {
                members.removeValue(forKey: name)
            } else {
                members[name] = (members[name] ?? .null).merged(with: change)
            }
        }
        return .object(members)
    }
}
