import BeagleNetHTTP

/// What an answer means for an entry.
enum OutboxVerdict {
    /// The server has acted: the entry is done.
    case accepted
    /// Sending it again would come to the same; why.
    case refused(String)
    /// It is to be sent again.
    case open(NetworkError)
}

extension Outbox.Outcome {
    private static let passingStatuses: Set<Int> = [408, 425, 429]
    /// What our own rules refuse before anything is sent, every time.
    private static let unsendable: Set<NetworkError.Kind> = [.badURL, .unsupportedScheme, .badRequest]

    var verdict: OutboxVerdict {
        if let status {
            if status.code >= 500 || Self.passingStatuses.contains(status.code) { return .open(failure) }
            return status.kind == .successful ? .accepted : .refused("\(status.code)")
        }
        guard case .failure(let error) = self else { return .accepted }
        let isFinal = Self.unsendable.contains(error.kind) && !error.mayHaveReachedServer
        return isFinal ? .refused(error.kind.rawValue) : .open(error)
    }

    /// Why it is no success; an answer that nobody made a failure of becomes one.
    private var failure: NetworkError {
        switch self {
        case .failure(let error): error
        case .success(let result): result.response?.refusal() ?? .noResponse
        }
    }
}

extension NetworkError {
    static func kept(_ id: Outbox.Entry.ID, _ cause: NetworkError) -> NetworkError {
        var error = NetworkError(
            .kept,
            during: .queue,
            "the request could not be sent now and is kept in the outbox: \(cause.message)",
            advice: "it is sent when the outbox is flushed; do not submit it again",
            underlying: cause
        )
        error.outboxEntry = id
        error.mayHaveReachedServer = true
        error.request = cause.request
        return error
    }

    /// Somebody has left the wait for an entry's answer.
    static func left(_ entry: Outbox.Entry) -> NetworkError {
        var error = NetworkError(
            .cancelled,
            during: .queue,
            "the wait for the answer was cancelled; the request stays in the outbox",
            advice: "take it out with Outbox.remove, if it is not to be sent"
        )
        error.outboxEntry = entry.id
        error.mayHaveReachedServer = true
        return error
    }

    static let heldByAnother = NetworkError(
        .file,
        during: .queue,
        "another process sends what is in the outbox"
    )

    static let nobodySends = NetworkError(
        .notConfigured,
        during: .queue,
        "older entries are before it, and no client sends them",
        advice: "call Outbox.flush, or sendAutomatically when the app starts"
    )

    static let expired: NetworkError = {
        var error = NetworkError(.timeout, during: .queue, "the entry became older than Outbox.Limits.maxAge")
        error.mayHaveReachedServer = true
        return error
    }()

    static let taken: NetworkError = {
        var error = NetworkError(
            .other,
            during: .queue,
            "the entry is in the outbox no more, and the server's answer is not known here"
        )
        error.mayHaveReachedServer = true
        return error
    }()
}
