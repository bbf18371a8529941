package import BeagleNetHTTP

extension TransferOptions {
    /// Options that time out a hanging transfer before the test's own limit. Their only limit is the total time, because on a
    /// busy machine each step may take long.
    package static let limited = TransferOptions(
        timeouts: Timeouts(connect: nil, firstByte: nil, idle: nil, total: .seconds(240))
    )
}
