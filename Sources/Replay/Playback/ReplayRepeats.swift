/// What is answered when the same request is asked more often than it stands in the recording. Recorded answers are given
/// in their order first.
public enum ReplayRepeats: Sendable, Hashable {
    /// The last answer, again and again.
    case sequenceThenLast
    /// The answers from the first on.
    case cycle
    /// An error of kind `.notInRecording`.
    case sequenceThenFail
}
