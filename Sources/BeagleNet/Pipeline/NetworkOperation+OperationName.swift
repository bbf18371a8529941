extension NetworkOperation {
    private enum OperationNameKey: ContextKey { static let defaultValue: String? = nil }

    /// The name of a GraphQL operation, as `Home` in `query Home`; nil, the default, where it has none. Spans have it as an
    /// attribute, and are not named by it: clients may make up as many as they like.
    public var operationName: String? {
        get { context[OperationNameKey.self] }
        set { context[OperationNameKey.self] = newValue }
    }
}
