public import BeagleNet

extension RequestLog {
    /// What a log writes down, and how much.
    public struct Options: Sendable {
        /// Tells what must not be written; nil, the default, for the redactor of the client that records.
        public var redactor: Redactor?
        /// The most bytes kept of a body; of the rest only the number. 10 MiB by default. Of a message no more is kept than
        /// that either, and never more than 10 MiB.
        public var maxBodyBytes = 10 << 20
        /// Larger bodies, in bytes, are files of their own. 16 KiB by default.
        public var maxInlineBytes = 16 << 10
        /// What outlives what.
        public var durability = Durability.process
        /// Whether who asks waits where the disk is slower than the network. No by default: what there is no room for is
        /// left out, bodies first, and counted in the log.
        public var isLossless = false
        /// A segment of this many bytes, its bodies included, is followed by another. 16 MiB by default.
        public var segmentBytes: Int64 = 16 << 20
        /// A segment this old is followed by another. A day by default.
        public var segmentAge = Duration.seconds(86_400)
        /// The most bytes that the directory holds: beyond them the oldest closed segment goes, and then the bodies that
        /// nothing refers to any more, once they are an hour old. 256 MiB by default.
        public var maxBytes: Int64 = 256 << 20
        /// Segments that were closed longer ago than this go. 14 days by default.
        public var maxAge = Duration.seconds(14 * 86_400)
        /// Hears, once, that recording stopped, and why; nobody by default.
        public var logger: any BeagleLogger = .off
        /// How long recording rests after a failure.
        package var patience = Duration.seconds(5)

        /// The documented defaults.
        public init() {}
    }

    /// What an acknowledged entry outlives: one that was asked for before `flush()` returned, or whose `end` record was
    /// written.
    public enum Durability: Sendable, Hashable {
        /// The end of the process, also by SIGKILL.
        case process
        /// A loss of power as well, but for the last moments: what was written is on the disk this long afterwards at the
        /// latest, and when `flush()` returns.
        case power(Duration)
    }
}
