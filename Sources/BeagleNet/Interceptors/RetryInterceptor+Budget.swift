import BeagleNetHTTP

extension RetryInterceptor {
    /// A budget that keeps retries a small part of the requests to an origin.
    ///
    /// A retry takes one token, a success returns a part of one, and there are no retries while half of the tokens or
    /// fewer are left. This is the scheme of gRPC's retry throttling:
    /// https://github.com/grpc/proposal/blob/master/A6-client-retries.md
    public final class Budget: Sendable {
        private let tokens: Double
        private let refund: Double
        private let spent = Lock<[Origin: Double]>([:])
        /// The maximum number of origins to remember. With more, the budget forgets all of them.
        private static let maxOrigins = 256

        /// Creates a budget.
        ///
        /// - Parameters:
        ///   - tokens: Twice the number of retries that an origin can have without a success; 20 by default.
        ///   - refund: The part of a token that a success returns; 0.1 by default, for one retry in ten requests.
        public init(tokens: Int = 20, refund: Double = 0.1) {
            self.tokens = Double(tokens)
            self.refund = refund
        }

        /// Takes a token; returns `false` if too few are left.
        func spend(on operation: NetworkOperation) -> Bool {
            let origin = Origin(of: operation.transfer.head)
            return spent.withLock { spent in
                let already = spent[origin] ?? 0
                guard tokens - already > tokens / 2 else { return false }
                if spent.count >= Self.maxOrigins, spent[origin] == nil { spent.removeAll() }
                spent[origin] = already + 1
                return true
            }
        }

        func noteSuccess(of operation: NetworkOperation) {
            spent.withLock { spent in
                guard !spent.isEmpty else { return }
                let origin = Origin(of: operation.transfer.head)
                guard let already = spent[origin] else { return }
                spent[origin] = already > refund ? already - refund : nil
            }
        }
    }
}
