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

    /// The maximum transfer rates of a body, in bytes per second as sent over the wire.
    ///
    /// `nil`, the default, means no limit. The limit is an average: the transfer pauses after it has moved too much. It
    /// moves 16 KiB or one second's worth at a time when receiving, and up to 64 KiB when sending
    /// (https://curl.se/libcurl/c/CURLOPT_MAX_SEND_SPEED_LARGE.html). The system's buffers fill first.
    /// `TransferOptions.Timeouts.total` keeps running during a pause.
    public struct Bandwidth: Sendable, Hashable {
        /// The maximum number of bytes received per second, 1 or more.
        public var receive: Int?
        /// The maximum number of bytes sent per second, 1 or more.
        public var send: Int?

        /// Creates a bandwidth limit; `nil` means no limit.
        public init(receive: Int? = nil, send: Int? = nil) {
            self.receive = receive
            self.send = send
        }
    }
}
