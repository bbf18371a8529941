extension Duration {
    /// Whole milliseconds, rounded up.
    var milliseconds: Int64 {
        Int64(clamping: (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    /// Nanoseconds; durations that do not fit are cut to what does.
    var nanoseconds: Int64 {
        Int64(clamping: attoseconds / 1_000_000_000)
    }
}

extension UInt64 {
    /// A mark on the monotonic clock, in nanoseconds, moved on by a duration.
    func advanced(by duration: Duration) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(UInt64(Swift.max(0, duration.nanoseconds)))
        return overflow ? .max : sum
    }
}
