extension Form {
    /// A check of an input's value that takes time, such as a request that asks whether a name is taken.
    ///
    /// ```swift
    /// Form.Input(
    ///     "name",
    ///     asyncValidator: Form.AsyncValidator { value in
    ///         let names = [URLQueryItem(name: "name", value: value.text)]
    ///         let reply = try await client.fetch("/names", as: [String].self, query: names)
    ///         return reply.isEmpty ? nil : Form.Message(.init(rawValue: "taken"), "is taken")
    ///     }
    /// )
    /// ```
    ///
    /// The check begins when the value hasn't been edited for a while. Another edit cancels it. `submit` doesn't wait
    /// for that pause: it checks values that haven't been checked yet, waits for running checks, and sends nothing if
    /// one of them reports an error. If a check fails, the form is sent, because the server checks the value too; the
    /// log has the reason.
    ///
    /// Empty values, and values that the input's other validators reject, aren't checked.
    public struct AsyncValidator: Sendable {
        /// The time without an edit after which the check begins, by the clock of `Beagle.dependencies`; 300 ms by
        /// default. Zero or less begins it with each edit.
        public var delay: Duration
        let check: @Sendable (Value) async throws -> Message?

        /// Creates a validator.
        ///
        /// - Parameters:
        ///   - delay: The time without an edit after which the check begins, 300 ms by default.
        ///   - check: Returns the message for an invalid value, or `nil` for a valid one. Its task is cancelled when
        ///     the value is edited or the form is released.
        public init(
            after delay: Duration = .milliseconds(300),
            _ check: @escaping @Sendable (Value) async throws -> Message?
        ) {
            self.delay = delay
            self.check = check
        }
    }
}
