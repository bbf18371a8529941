public import BeagleNet

extension RequestLog {
    /// The options of a log.
    public struct Options: Sendable {
        /// The redactor; `nil`, the default, for the redactor of the recording client.
        public var redactor: Redactor?
        /// The maximum number of bytes stored of a body, 10 MiB by default.
        ///
        /// Only the size of the rest is recorded. The limit also applies to a message, of which never more than 10 MiB
        /// are stored.
        public var maxBodyBytes = 10 << 20
        /// The size in bytes above which a body is stored in a file of its own, 16 KiB by default.
        public var maxInlineBytes = 16 << 10
        /// The durability of acknowledged entries.
        public var durability = Durability.process
        /// Whether callers wait if the disk is slower than the network; false by default.
        ///
        /// Otherwise, data without room is dropped, bodies first, and the losses are counted in the log.
        public var isLossless = false
        /// The size of a segment in bytes, including its bodies, at which a new one begins; 16 MiB by default.
        public var segmentBytes: Int64 = 16 << 20
        /// The age of a segment at which a new one begins, one day by default.
        public var segmentAge = Duration.seconds(86_400)
        /// The maximum size of the directory in bytes, 256 MiB by default.
        ///
        /// Beyond it, the oldest closed segment is removed, then bodies without references that are at least an hour
        /// old.
        public var maxBytes: Int64 = 256 << 20
        /// The time after which closed segments are removed, 14 days by default.
        public var maxAge = Duration.seconds(14 * 86_400)
        /// The logger that is notified once if recording stops, with the reason; off by default.
        public var logger: any BeagleLogger = .off
        /// The time for which recording pauses after a failure.
        package var pauseAfterFailure = Duration.seconds(5)

        /// Creates options with their documented defaults.
        public init() {}
    }

    /// The events that an acknowledged entry survives.
    ///
    /// An entry is acknowledged if it was recorded before `flush()` returned, or if its `end` record was written.
    public enum Durability: Sendable, Hashable {
        /// Entries survive the end of the process, including SIGKILL.
        case process
        /// Entries also survive a power failure, except for the last moments.
        ///
        /// Data is flushed to the disk at the latest after this duration, and when `flush()` returns.
        case power(Duration)
    }
}
