import BeagleNetHTTP

extension Form {
    /// An input and the validation of its value.
    public struct Input: Sendable {
        /// A function that returns the error message for a value, or `nil` if the value is valid.
        ///
        /// It is also called for an empty value. It receives all inputs, so that it can compare them.
        public typealias Check = @Sendable (_ value: Value, _ inputs: [Input]) -> String?

        /// The name under which the value is sent.
        public var name: String
        /// The value of the input.
        public var value: Value
        /// Whether the input must not be empty.
        public var isRequired: Bool
        /// The error message for a required input that is empty, by default the text of `Form.Message.Key.required`.
        public var requiredMessage: String {
            get { givenRequiredMessage ?? Message.required.localizedText }
            set { givenRequiredMessage = newValue }
        }
        private var givenRequiredMessage: String?
        /// A Boolean value that indicates whether the value is never stored.
        public var isSecret: Bool
        /// The validators of the value, of which the first error is reported; empty by default.
        ///
        /// They aren't called if a required value is missing.
        public var validators: [Validator]
        /// The check that takes time, such as a request, or `nil`, the default, for no such check.
        ///
        /// It belongs to the name: of several inputs of one name, only the first may have it.
        public var asyncValidator: AsyncValidator?
        /// The validation of the value after the validators, which isn't called if one of them reports an error or a
        /// required value is missing.
        public var check: Check?

        /// Creates an input.
        ///
        /// - Parameters:
        ///   - name: The name under which the value is sent.
        ///   - value: The initial value, empty by default.
        ///   - isRequired: Whether the input must not be empty, `false` by default.
        ///   - isSecret: Whether the value is never stored, or `nil` to let the redactor of `Beagle.dependencies`
        ///     decide by the name. `password` and similar names are secret.
        ///   - validators: The validators of the value, such as `.email`; empty by default.
        ///   - asyncValidator: A check that takes time, such as a request; `nil` by default.
        ///   - check: An additional validation.
        public init(
            _ name: String,
            _ value: Value = .empty,
            isRequired: Bool = false,
            isSecret: Bool? = nil,
            validators: [Validator] = [],
            asyncValidator: AsyncValidator? = nil,
            check: Check? = nil
        ) {
            self.name = name
            self.value = value
            self.isRequired = isRequired
            self.isSecret = isSecret ?? Self.isSecret(name)
            self.validators = validators
            self.asyncValidator = asyncValidator
            self.check = check
        }
    }
}

extension Form.Input {
    static func isSecret(_ name: String) -> Bool {
        // `key` is secret depending on the length of its value, which isn't known yet.
        Beagle.dependencies.redactor.isSecret(name: name, length: .max)
    }

    /// Returns the error message for the value, or `nil` if it is valid.
    func message(in inputs: [Form.Input]) -> String? {
        if isRequired, value.isEmpty { return requiredMessage }
        let failure = validators.lazy.compactMap { $0.message(for: value, in: inputs) }.first
        return failure?.localizedText ?? check?(value, inputs)
    }
}

extension Form.Input: CustomStringConvertible, CustomReflectable {
    /// The name and value, without the value of a secret input.
    public var description: String {
        if isSecret { return value.isEmpty ? "\(name): empty" : "\(name): \(Redactor.placeholder)" }
        return "\(name): \(value)"
    }
    /// An empty mirror, so that `dump` doesn't show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
