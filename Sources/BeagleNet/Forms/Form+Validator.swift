extension Form {
    /// A check of an input's value, with a message that an app can translate.
    ///
    /// The ready validators accept an empty value, as HTML does: combine them with `isRequired`. For a list, each of
    /// its values is checked. A file is checked only by `required`.
    ///
    /// ```swift
    /// Form.Input("age", isRequired: true, validators: [.range(atLeast: 18)])
    /// ```
    public struct Validator: Sendable {
        private let check: @Sendable (_ value: Value, _ inputs: [Form.Input]) -> Message?

        /// Creates a validator.
        ///
        /// - Parameter check: Returns the message for an invalid value, or `nil` for a valid one. It is also called for
        ///   an empty value, and receives all inputs of the form.
        public init(_ check: @escaping @Sendable (_ value: Value, _ inputs: [Form.Input]) -> Message?) {
            self.check = check
        }

        /// Returns the message for a value, or `nil` if it is valid.
        ///
        /// - Parameters:
        ///   - value: The value to check.
        ///   - inputs: The inputs of the form.
        public func message(for value: Value, in inputs: [Form.Input]) -> Message? {
            check(value, inputs)
        }

        /// Returns this validator with another message.
        ///
        /// - Parameter text: The text of the message, which is also its key for `formMessages`.
        public func with(message text: String) -> Validator {
            Validator { [check] value, inputs in
                check(value, inputs).map { Message(.init(rawValue: text), text, arguments: $0.arguments) }
            }
        }

        /// Creates a validator of single values that aren't empty, such as the elements of a list.
        static func each(_ check: @escaping @Sendable (Value) -> Message?) -> Validator {
            Validator { value, _ in value.elements.lazy.filter { !$0.isEmpty }.compactMap(check).first }
        }

        /// Creates a validator of the texts of values.
        static func text(_ check: @escaping @Sendable (String) -> Message?) -> Validator {
            each { value in value.shownText.flatMap(check) }
        }
    }
}
