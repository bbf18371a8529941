extension Duration {
    /// The duration in milliseconds, rounded up.
    var milliseconds: Int64 {
        Int64(clamping: (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    /// The duration in nanoseconds, clamped to the range of `Int64`.
    var nanoseconds: Int64 {
        Int64(clamping: attoseconds / 1_000_000_000)
    }
}

extension UInt64 {
    /// Returns this time of the monotonic clock, in nanoseconds, plus a duration.
    func advanced(by duration: Duration) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(UInt64(Swift.max(0, duration.nanoseconds)))
        return overflow ? .max : sum
    }
}
