public import BeagleNet

extension BeagleDependencies {
    /// The log into which the default client records its requests and responses; `nil`, the default, if it doesn't
    /// record.
    ///
    /// ```swift
    /// dependencies.requestLog = try RequestLog(directory: "session.bglog")
    /// ```
    /// Setting it adds a `RecordInterceptor` to the `interceptors`, or removes it.
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
