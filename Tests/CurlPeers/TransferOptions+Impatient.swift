package import BeagleNetHTTP

extension TransferOptions {
    /// Ends a transfer that hangs, long before the test's own limit.
    package static let impatient = TransferOptions(timeouts: Timeouts(total: .seconds(40)))
}
