public import BeagleNet
import BeagleNetHTTP

extension NetworkOperation {
    private enum URLTemplateKey: ContextKey { static let defaultValue: String? = nil }

    /// The pattern of the path, such as `/users/{id}`, or `nil`, the default.
    ///
    /// It is part of the name of spans and a dimension of metrics, so it must be the same for all users.
    public var urlTemplate: String? {
        get { context[URLTemplateKey.self] }
        set { context[URLTemplateKey.self] = newValue }
    }

    /// Calls `observe` for each redirect that is followed, on the transport's thread, after the observers that were
    /// added earlier.
    mutating func onRedirect(_ observe: @escaping TransferRequest.RedirectObserver) {
        guard let earlier = transfer.onRedirect else {
            transfer.onRedirect = observe
            return
        }
        transfer.onRedirect = { response, followed, next in
            earlier(response, followed, &next)
            observe(response, followed, &next)
        }
    }
}
