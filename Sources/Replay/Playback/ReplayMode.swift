public import BeagleNet
public import BeagleNetCurl

/// Who answers: the recording, the network, or both.
///
/// A base is any transport. One that records, as `RecordingTransport(CurlTransport(), log: log)`, writes down what the
/// recording lacks (`recordNew`), or all of it anew (`refresh`, into the log of a `RecordingUpdate`, which replaces the old
/// recording at the end).
public enum ReplayMode: Sendable {
    /// The recording alone: what it lacks is an error of kind `.notInRecording`. The default.
    case offline
    /// The recording, and for what it lacks a base, which then follows redirects too.
    case fallback(to: any HTTPTransport)
    /// A base alone. The recording is not asked.
    case refresh(from: any HTTPTransport)
    /// A base. What the recording has instead is compared with each answer that has come whole, and `report` hears of
    /// each that differs, on any thread and before the app gets it: it must not block. Bodies above 16 MiB are not compared.
    case live(
        from: any HTTPTransport,
        rules: ComparisonRules = ComparisonRules(),
        report: @Sendable (ReplayComparison) -> Void
    )

    /// The recording, and for what it lacks a base, whose answers are recorded.
    ///
    /// - Parameters:
    ///   - base: what is asked for the rest; another `CurlTransport` by default.
    ///   - log: that of the recording itself, which so has them the next time, or another.
    public static func recordNew(
        from base: some HTTPTransport = CurlTransport(),
        into log: RequestLog
    ) -> ReplayMode {
        .fallback(to: RecordingTransport(base, log: log))
    }

    /// What asks the network; nil where nothing does.
    var base: (any HTTPTransport)? {
        switch self {
        case .offline: nil
        case .fallback(let base), .refresh(let base), .live(let base, _, _): base
        }
    }
}

/// An answer of the network that is not what the recording has.
public struct ReplayComparison: Sendable {
    /// Method and URL of the message, without secrets.
    public let request: String
    /// In what the answer differs from the recorded one; none where one of the two failed.
    public let differences: Differences
    /// Why the recording has no answer: a miss, or the failure that was recorded; nil where it has one.
    public let recordedFailure: NetworkError?
    /// Why the network gave no whole answer; nil where it did.
    public let failure: NetworkError?
}

extension ReplayComparison: CustomStringConvertible {
    /// The message, and in what its answer differs.
    public var description: String {
        if let failure { return "\(request): no complete response arrived: \(failure.sentence)" }
        if let recordedFailure { return "\(request): no response was recorded: \(recordedFailure.sentence)" }
        return "\(request): the response differs from the recorded one: \(differences.lines.joined(separator: ", "))"
    }
}
