extension ReplayTransport {
    /// The behavior when a request is sent more often than it was recorded, after all recorded responses were used in
    /// order.
    public enum Repeats: Sendable, Hashable {
        /// Repeats the last response.
        case sequenceThenLast
        /// Starts again with the first response.
        case cycle
        /// Fails with an error of kind `.notInRecording`.
        case sequenceThenFail
    }
}
