import BeagleNet
import BeagleNetHTTP

extension NetworkOperation {
    /// Tells of each redirect that is followed, before it is, on the transport's thread.
    ///
    /// - Parameter tell: gets the redirect and the message that follows, and says what follows in its place; nil for that
    ///   one.
    mutating func onRedirect(_ tell: @escaping @Sendable (RedirectPolicy.Proposal, HTTPRequest) -> HTTPRequest?) {
        let policy = transfer.options.redirects
        guard policy.limit > 0 else { return }
        let decide = policy.decide
        transfer.options.redirects = policy.deciding { proposal in
            let decision = decide?(proposal) ?? .follow
            let next: HTTPRequest
            switch decision {
            case .follow: next = proposal.next
            case .followChanged(let changed): next = changed
            case .handOver, .refuse: return decision
            }
            return tell(proposal, next).map { .followChanged($0) } ?? decision
        }
    }
}
