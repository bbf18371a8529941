public import BeagleNet

extension GraphQLDocument {
    /// A query, mutation or subscription of a document.
    public struct Operation: Sendable, Hashable {
        /// Its name, if it has one.
        public let name: String?
        /// What it does.
        public let kind: OperationKind
        /// What it wants to be told, in its order.
        public let variables: [Variable]
        /// What `data` of the answer has, in its order: also what fragments bring, and what `@skip` and `@include` may
        /// take away.
        public let rootFields: [RootField]
        /// Whether a part of the answer may come later: `@defer` stands in it or in a fragment it uses.
        public let usesDefer: Bool
        /// Whether a list of the answer may come in parts: `@stream` stands in it or in a fragment it uses.
        public let usesStream: Bool

        /// The keys of `data`, but for those of `__typename`.
        public let responseKeys: [String]
    }

    /// What an operation wants to be told.
    public struct Variable: Sendable, Hashable {
        /// Its name, without `$`.
        public let name: String
        /// Its type.
        public let type: GraphQLType
        /// The value it has where none is sent, as it is written; nil where it has none.
        public let defaultValue: String?

        /// Whether there is a value where none is sent.
        public var hasDefault: Bool { defaultValue != nil }
        /// Whether an operation runs without it: it may be null, or has a default.
        public var isOptional: Bool { !type.isNonNull || hasDefault }
    }

    /// A field that an operation selects of its root.
    public struct RootField: Sendable, Hashable {
        /// Under what the answer has it: its alias, or its name.
        public let key: String
        /// Its name.
        public let name: String

        /// Whether it is `__typename`, which tells the root's type.
        public var isTypename: Bool { name == "__typename" }
    }

    /// Whether `@defer` stands in anything that can be run.
    public var usesDefer: Bool { operations.contains(where: \.usesDefer) }

    /// Whether `@stream` stands in anything that can be run.
    public var usesStream: Bool { operations.contains(where: \.usesStream) }

    /// The operation to be run.
    ///
    /// - Parameter name: its name; nil, where the document has only one, for that one.
    /// - Throws: `NetworkError` of kind `.badRequest` where there is none of this name, or several and no name.
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
