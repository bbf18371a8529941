extension NetworkOperation {
    /// Names a value that interceptors leave for each other in an operation's context.
    ///
    /// ```swift
    /// enum IdempotencyKey: NetworkOperation.ContextKey { static let defaultValue: String? = nil }
    /// operation.context[IdempotencyKey.self] = "a1b2"
    /// ```
    public protocol ContextKey: SendableMetatype {
        /// What the value is.
        associatedtype Value: Sendable
        /// The value where none was left.
        static var defaultValue: Value { get }
    }

    /// Values of an operation, each under a type of its own.
    public struct Context: Sendable {
        private var values: [ObjectIdentifier: any Sendable]

        /// A context in which nothing is set.
        public init() {
            values = [:]
        }

        /// The value of this key: the one set, else the key's default.
        public subscript<K: ContextKey>(key: K.Type) -> K.Value {
            get {
                guard let value = values[ObjectIdentifier(key)] else { return K.defaultValue }
                return value as? K.Value ?? K.defaultValue
            }
            set { values[ObjectIdentifier(key)] = newValue }
        }
    }
}
