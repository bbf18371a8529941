public import BeagleNetDependencies
public import BeagleNetHTTP
public import BeagleNetRequestBuilder

/// Keeps what was put into forms under the names of groups: drafts, and the earlier pages of a form.
public protocol FormStore: Sendable {
    /// What is kept in a group, in the order in which it was put there; nothing where there is no such group.
    ///
    /// - Throws: `NetworkError` where there is something that cannot be read.
    func fields(of group: String) throws(NetworkError) -> [FormField]

    /// Puts fields into a group, all at once: nobody sees a part of them.
    ///
    /// - Parameters:
    ///   - fields: what to keep, none of it a file or a secret.
    ///   - names: what was kept under these names is forgotten.
    ///   - group: where to.
    /// - Throws: `NetworkError` where it cannot be kept; the group is as it was.
    func keep(_ fields: [FormField], insteadOf names: Set<String>, in group: String) throws(NetworkError)

    /// Forgets a group; one that is not there is no error.
    ///
    /// - Throws: `NetworkError` where it cannot be forgotten.
    func clear(_ group: String) throws(NetworkError)
}

/// Keeps groups for as long as it lives.
public final class MemoryFormStore: FormStore {
    private let groups = Lock<[String: [FormField]]>([:])

    /// A store that is empty.
    public init() {}

    /// What is kept in a group.
    public func fields(of group: String) -> [FormField] {
        groups.withLock { $0[group] ?? [] }
    }

    /// Puts fields into a group.
    public func keep(_ fields: [FormField], insteadOf names: Set<String>, in group: String) {
        groups.withLock { $0[group] = ($0[group] ?? []).filter { !names.contains($0.name) } + fields }
    }

    /// Forgets a group.
    public func clear(_ group: String) {
        groups.withLock { $0[group] = nil }
    }
}

extension BeagleDependencies {
    /// Keeps what was put into forms of a group; in memory unless told otherwise.
    public var formStore: any FormStore {
        get { self[FormStoreKey.self] }
        set { self[FormStoreKey.self] = newValue }
    }
}

enum FormStoreKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> any FormStore { MemoryFormStore() }
}
