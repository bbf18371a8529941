public import BeagleNet

extension BeagleDependencies {
    /// Where the default client records what it sends and what comes of it; nil, the default: nowhere.
    ///
    /// ```swift
    /// dependencies.requestLog = try RequestLog(directory: "session.bglog")
    /// ```
    /// Setting it puts a `RecordInterceptor` among the `interceptors`, or takes it away.
    public var requestLog: RequestLog? {
        get { self[RequestLogKey.self] }
        set {
            self[RequestLogKey.self] = newValue
            var interceptors = interceptors
            interceptors.removeAll { $0 is RecordInterceptor }
            if let newValue { interceptors.add(RecordInterceptor(newValue)) }
            self.interceptors = interceptors
        }
    }
}

private enum RequestLogKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> RequestLog? { nil }
}
