extension TransferOptions {
    /// The transfer rate of a body below which a transfer fails with a timeout.
    ///
    /// The rate is checked at the end of each `window`. Waiting for the response doesn't count, as
    /// `TransferOptions.Timeouts.firstByte` limits it. Delays caused by a slow reader or writer of a stream don't count
    /// either.
    public struct MinimumSpeed: Sendable, Hashable {
        /// The minimum number of bytes per second as sent over the wire, 1 or more.
        public var bytesPerSecond: Int
        /// The interval over which the rate is measured, above zero and at most a day.
        ///
        /// The default is 30 s.
        public var window: Duration

        /// Creates a minimum of `bytesPerSecond` over each window.
        public init(bytesPerSecond: Int, over window: Duration = .seconds(30)) {
            self.bytesPerSecond = bytesPerSecond
            self.window = window
        }
    }
}
