import BeagleNet
import BeagleNetHTTP

extension NetworkOperation {
    /// Tells of each redirect that is followed, on the transport's thread, after whoever asked to be told before.
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
