/// How slow a body may come or go before the transfer ends with a timeout.
///
/// It is looked at whenever `window` has passed. The wait for an answer does not count, that is `Timeouts.firstByte`'s;
/// nor does what a slow reader or writer of a stream holds up.
public struct MinimumSpeed: Sendable, Hashable {
    /// Bytes per second as they go over the wire, 1 and above.
    public var bytesPerSecond: Int
    /// The time over which the speed is measured: above zero, a day at most. 30 s.
    public var window: Duration

    /// A body has to move `bytesPerSecond` over each window.
    public init(bytesPerSecond: Int, over window: Duration = .seconds(30)) {
        self.bytesPerSecond = bytesPerSecond
        self.window = window
    }
}
