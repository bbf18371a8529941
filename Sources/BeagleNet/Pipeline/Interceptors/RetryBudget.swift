import BeagleNetHTTP

/// Keeps retries a small part of what an origin is asked: a retry takes one token, a success gives a part of one back,
/// and below half of the tokens there are no retries. (The scheme of gRPC's retry throttling:
/// https://github.com/grpc/proposal/blob/master/A6-client-retries.md)
public final class RetryBudget: Sendable {
    private let tokens: Double
    private let refund: Double
    private let spent = Lock<[Origin: Double]>([:])
    /// Origins kept in mind; a client that asks more of them forgets what it thought of the others.
    private static let maxOrigins = 256

    /// A budget.
    ///
    /// - Parameters:
    ///   - tokens: how many retries an origin can have in a row without a success is half of it; 20 by default.
    ///   - refund: what a success gives back, 0.1 by default: one retry in ten requests.
    public init(tokens: Int = 20, refund: Double = 0.1) {
        self.tokens = Double(tokens)
        self.refund = refund
    }

    /// Takes a token; false where there are too few.
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
