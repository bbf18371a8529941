package import BeagleNetHTTP

extension TransferOptions {
    /// Options that time out a hanging transfer before the test's own limit.
    ///
    /// Only the total time is limited, because each step may take long on a busy machine.
    package static let limited = TransferOptions(
        timeouts: Timeouts(connect: nil, firstByte: nil, idle: nil, total: .seconds(240))
    )
}
