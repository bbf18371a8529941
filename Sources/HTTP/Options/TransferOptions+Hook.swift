extension TransferOptions {
    /// A function in an equatable value.
    ///
    /// A hook is equal only to itself.
    public struct Hook<Function: Sendable>: Sendable, Hashable {
        private final class Box: Sendable {
            let function: Function

            init(_ function: Function) {
                self.function = function
            }
        }

        private let box: Box

        /// Wraps a function.
        public init(_ function: Function) {
            box = Box(function)
        }

        /// The function.
        package var function: Function { box.function }

        /// Whether both are the same hook.
        public static func == (one: Hook, other: Hook) -> Bool { one.box === other.box }

        /// Hashes the hook's identity.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(ObjectIdentifier(box))
        }
    }
}
