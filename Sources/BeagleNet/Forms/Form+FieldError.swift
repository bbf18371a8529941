extension Form {
    /// An error of an input of a form, or of the form as a whole.
    public struct FieldError: Error, Sendable, Hashable {
        /// The name of the input, or `nil` if the error is about the whole form or about a field that isn't an input of
        /// it.
        public var field: String?
        /// The message to the user who filled in the form.
        public var message: String
        /// The server's name of the field, if it isn't an input of the form.
        public var serverName: String?

        /// Creates an error.
        public init(field: String?, message: String, serverName: String? = nil) {
            self.field = field
            self.message = message
            self.serverName = serverName
        }
    }
}
