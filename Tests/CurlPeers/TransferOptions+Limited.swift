package import BeagleNetHTTP

extension TransferOptions {
    /// Options that time out a hanging transfer long before the test's own limit.
    package static let limited = TransferOptions(timeouts: Timeouts(total: .seconds(120)))
}
