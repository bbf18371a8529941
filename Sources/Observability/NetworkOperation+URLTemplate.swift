public import BeagleNet

extension NetworkOperation {
    private enum URLTemplateKey: ContextKey { static let defaultValue: String? = nil }

    /// The pattern of the path, as `/users/{id}`, where the app knows it; nil by default. Spans are named by it, and it
    /// tells their measurements apart, so it must not hold what differs from one person to the next.
    public var urlTemplate: String? {
        get { context[URLTemplateKey.self] }
        set { context[URLTemplateKey.self] = newValue }
    }
}
