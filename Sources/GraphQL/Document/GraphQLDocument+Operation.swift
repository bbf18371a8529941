public import BeagleNet

extension GraphQLDocument {
    /// A query, mutation or subscription of a document.
    public struct Operation: Sendable, Hashable {
        /// The name of the operation, if it has one.
        public let name: String?
        /// The kind of operation: query, mutation or subscription.
        public let kind: OperationKind
        /// The declared variables, in source order.
        public let variables: [Variable]
        /// The root fields of `data`, in source order.
        ///
        /// Includes the fields of fragments, and fields that `@skip` or `@include` may remove.
        public let rootFields: [RootField]
        /// Whether parts of the result may arrive later: the operation or a fragment it uses contains `@defer`.
        public let usesDefer: Bool
        /// Whether a list of the result may arrive in parts: the operation or a fragment it uses contains `@stream`.
        public let usesStream: Bool

        /// The keys of `data`, except those of `__typename`.
        public let responseKeys: [String]
    }

    /// A variable that an operation declares.
    public struct Variable: Sendable, Hashable {
        /// The name of the variable, without `$`.
        public let name: String
        /// The type of the variable.
        public let type: TypeReference
        /// The source text of the default value, or `nil` if there is no default.
        public let defaultValue: String?

        /// Whether the variable has a default value.
        public var hasDefault: Bool { defaultValue != nil }
        /// Whether the operation can run without this variable: it is nullable or has a default.
        public var isOptional: Bool { !type.isNonNull || hasDefault }
    }

    /// A field of an operation's root selection set.
    public struct RootField: Sendable, Hashable {
        /// The key of the field in the result: its alias, or else its name.
        public let key: String
        /// The name of the field.
        public let name: String

        /// Whether the field is `__typename`, which returns the name of the root type.
        public var isTypename: Bool { name == "__typename" }
    }

    /// Whether any operation of the document uses `@defer`.
    public var usesDefer: Bool { operations.contains(where: \.usesDefer) }

    /// Whether any operation of the document uses `@stream`.
    public var usesStream: Bool { operations.contains(where: \.usesStream) }

    /// Returns the operation to run.
    ///
    /// - Parameter name: The operation's name, or `nil` to select the only operation of the document.
    /// - Throws: `NetworkError` of kind `.badRequest` if no operation has this name, or if `name` is `nil` and the
    ///   document doesn't have exactly one operation.
    public func operation(named name: String? = nil) throws(NetworkError) -> Operation {
        let operations = operations
        if let name {
            if let operation = operations.first(where: { $0.name == name }) { return operation }
            throw unclear("the document has no operation named \(name)")
        }
        guard operations.count < 2 else {
            throw unclear("the document has \(operations.count) operations, but no operation name was given")
        }
        guard let operation = operations.first else {
            throw unclear("the document has only fragments and no operation")
        }
        return operation
    }

    private func unclear(_ message: String) -> NetworkError {
        let names = operations.compactMap(\.name)
        let advice =
            switch (operations.isEmpty, names.isEmpty) {
            case (true, _): "add an operation, such as query { … }"
            case (_, true): "omit the name: the only operation is unnamed"
            default: "use one of these names: \(names.joined(separator: ", "))"
            }
        return NetworkError(.badRequest, during: .build, message, advice: advice)
    }
}
