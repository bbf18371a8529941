public import BeagleNet

extension NetworkOperation {
    private enum URLTemplateKey: ContextKey { static let defaultValue: String? = nil }

    /// The pattern of the path, such as `/users/{id}`, or `nil`, the default.
    ///
    /// It is part of the name of spans and a dimension of metrics, so it must be the same for all users.
    public var urlTemplate: String? {
        get { context[URLTemplateKey.self] }
        set { context[URLTemplateKey.self] = newValue }
    }
}
