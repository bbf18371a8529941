extension NetworkOperation {
    /// A key of a value in an operation's context, which interceptors use to pass values to each other.
    ///
    /// ```swift
    /// enum IdempotencyKey: NetworkOperation.ContextKey { static let defaultValue: String? = nil }
    /// operation.context[IdempotencyKey.self] = "a1b2"
    /// ```
    public protocol ContextKey: SendableMetatype {
        /// The type of the value.
        associatedtype Value: Sendable
        /// The value if none was set.
        static var defaultValue: Value { get }
    }

    /// Values of an operation, each under a type of its own.
    public struct Context: Sendable {
        private var values: [ObjectIdentifier: any Sendable]

        /// Creates an empty context.
        public init() {
            values = [:]
        }

        /// The value of this key, or the key's default if it wasn't set.
        public subscript<K: ContextKey>(key: K.Type) -> K.Value {
            get {
                guard let value = values[ObjectIdentifier(key)] else { return K.defaultValue }
                return value as? K.Value ?? K.defaultValue
            }
            set { values[ObjectIdentifier(key)] = newValue }
        }
    }
}
