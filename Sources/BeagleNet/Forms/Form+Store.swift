public import BeagleNetDependencies
public import BeagleNetHTTP
public import BeagleNetRequestBuilder

extension Form {
    /// A store of form values by group, for drafts and for the earlier pages of a form.
    public protocol Store: Sendable {
        /// Returns the stored fields of a group in the order in which they were stored, or none if the group doesn't
        /// exist.
        ///
        /// - Throws: `NetworkError` if stored values can't be read.
        func fields(of group: String) throws(NetworkError) -> [FormField]

        /// Stores fields in a group, atomically.
        ///
        /// - Parameters:
        ///   - fields: The fields to store, without files and secrets.
        ///   - names: The names whose stored values are removed.
        ///   - group: The group.
        /// - Throws: `NetworkError` if the fields can't be stored; the group is then unchanged.
        func save(_ fields: [FormField], replacing names: Set<String>, in group: String) throws(NetworkError)

        /// Deletes a group; it isn't an error if the group doesn't exist.
        ///
        /// - Throws: `NetworkError` if the group can't be deleted.
        func clear(_ group: String) throws(NetworkError)
    }
}

extension BeagleDependencies {
    /// The store of form values, in memory by default.
    public var formStore: any Form.Store {
        get { self[FormStoreKey.self] }
        set { self[FormStoreKey.self] = newValue }
    }
}

enum FormStoreKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> any Form.Store { Form.MemoryStore() }
}
