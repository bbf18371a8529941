import BeagleNet
import BeagleNetHTTP

extension NetworkOperation {
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
