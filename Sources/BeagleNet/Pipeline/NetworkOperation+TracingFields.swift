import BeagleNetHTTP

extension NetworkOperation {
    private enum TracingFieldsKey: ContextKey { static let defaultValue: Set<HTTPField.Name> = [] }

    /// The fields of the message that tell its trace, put on it below all that changes what is asked: whoever compares
    /// the message with what was asked leaves them out.
    package var tracingFields: Set<HTTPField.Name> {
        get { context[TracingFieldsKey.self] }
        set { context[TracingFieldsKey.self] = newValue }
    }
}
