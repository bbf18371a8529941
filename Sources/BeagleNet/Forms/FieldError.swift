/// What is wrong with an input of a form, or with the form as a whole.
public struct FieldError: Error, Sendable, Hashable {
    /// The name of the input; nil where it is about the whole form, or about what is no input of it.
    public var field: String?
    /// What is wrong, said to the person who filled it in.
    public var message: String
    /// What the server calls the field, where it is no input of the form.
    public var serverName: String?

    /// Describes what is wrong.
    public init(field: String?, message: String, serverName: String? = nil) {
        self.field = field
        self.message = message
        self.serverName = serverName
    }
}
