public import BeagleNet
public import BeagleNetCurl

extension ReplayTransport {
    /// The source of responses: the recording, the network, or both.
    ///
    /// A base is any transport. If it records, as `RecordingTransport(CurlTransport(), log: log)` does, requests that
    /// the recording lacks are added (`recordNew`), or all requests are recorded again (`refresh`, with the log of a
    /// `Recording.Update`, which finally replaces the old recording).
    public enum Mode: Sendable {
        /// Responses come only from the recording.
        ///
        /// A request without a recorded response fails with an error of kind `.notInRecording`. The default.
        case offline
        /// Responses come from the recording, or from a base if the recording has none.
        ///
        /// The base then also follows redirects.
        case fallback(to: any HTTPTransport)
        /// Responses come only from a base.
        ///
        /// The recording is not used.
        case refresh(from: any HTTPTransport)
        /// Responses come from a base, and complete ones are compared with the recorded ones.
        ///
        /// `report` is called for each difference, on any thread and before the app receives the response, so it must
        /// not block. Bodies above 16 MiB are not compared.
        case live(
            from: any HTTPTransport,
            rules: ComparisonRules = ComparisonRules(),
            report: @Sendable (Comparison) -> Void
        )

        /// Returns a mode that records responses from a base if the recording has none.
        ///
        /// - Parameters:
        ///   - base: the transport for requests that the recording lacks; a new `CurlTransport` by default.
        ///   - log: the log of the recording itself, so that it has the responses next time, or another log.
        public static func recordNew(
            from base: some HTTPTransport = CurlTransport(),
            into log: RequestLog
        ) -> Mode {
            .fallback(to: RecordingTransport(base, log: log))
        }

        /// The transport to the network; `nil` if the mode is `.offline`.
        var base: (any HTTPTransport)? {
            switch self {
            case .offline: nil
            case .fallback(let base), .refresh(let base), .live(let base, _, _): base
            }
        }
    }

    /// A comparison of a network response with the recorded one, reported if they differ.
    public struct Comparison: Sendable {
        /// The method and URL of the request, without secrets.
        public let request: String
        /// The differences between the two responses; empty if one of them failed.
        public let differences: ComparisonRules.Differences
        /// The reason why there is no recorded response: a miss, or the recorded failure; `nil` if there is one.
        public let recordedFailure: NetworkError?
        /// The reason why the network response is missing or incomplete; `nil` if it is complete.
        public let failure: NetworkError?
    }
}

extension ReplayTransport.Comparison: CustomStringConvertible {
    /// The request, with the differences of its response.
    public var description: String {
        if let failure { return "\(request): no complete response arrived: \(failure.sentence)" }
        if let recordedFailure { return "\(request): no response was recorded: \(recordedFailure.sentence)" }
        return "\(request): the response differs from the recorded one: \(differences.lines.joined(separator: ", "))"
    }
}

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
