import BeagleNet
import BeagleNetHTTP

extension NetworkOperation {
    /// Calls `tell` for each redirect that is followed, on the transport's thread, after the observers that were added
    /// earlier.
    mutating func onRedirect(_ tell: @escaping TransferRequest.RedirectObserver) {
        guard let earlier = transfer.onRedirect else {
            transfer.onRedirect = tell
            return
        }
        transfer.onRedirect = { answer, followed, next in
            earlier(answer, followed, &next)
            tell(answer, followed, &next)
        }
    }
}
