import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The meaning of an outcome for an entry.
enum OutboxVerdict {
    /// The server has acted: the entry is delivered.
    case accepted
    /// Sending it again would have the same outcome, for this reason.
    case refused(String)
    /// The entry must be sent again.
    case open(NetworkError)
}

extension Outbox.Outcome {
    private static let transientStatuses: Set<Int> = [408, 425, 429]
    /// Statuses that may be temporary for a message that was sent before or whose credentials aren't stored: the server
    /// is still processing the first message (draft-ietf-httpapi-idempotency-key-header, 2.7), or a user must sign in.
    private static let repeatStatuses: Set<Int> = [401, 407, 409]
    /// Errors in a response body that no caller needs.
    private static let bodyFaults: Set<NetworkError.Kind> = [.tooLarge, .encoding, .decoding]
    /// Redirect errors that the server would repeat for every attempt.
    private static let redirectErrors: Set<NetworkError.Kind> = [.tooManyRedirects, .insecureRedirect]
    /// Errors of our own rules before anything is sent, which only another client can avoid.
    private static let unsendable: Set<NetworkError.Kind> = [.badURL, .badRequest]

    /// Returns the meaning of an outcome.
    ///
    /// Only a response to the entry itself is definite. Errors from prerequisite requests (such as fetching a token)
    /// aren't.
    ///
    /// - Parameters:
    ///   - key: The `Idempotency-Key` of the entry.
    ///   - isFirst: Whether the message was never sent before and a caller waits for the response.
    ///   - isDelivered: Whether a success means that the entry is delivered; `false` if the response is another page's.
    func verdict(for key: String, isFirst: Bool, isDelivered: Bool = true) -> OutboxVerdict {
        let success = isDelivered ? OutboxVerdict.accepted : .refused(Outbox.redirected)
        switch self {
        case .success(let result):
            guard result.source == .network, let status = result.status else { return .open(.notFromServer) }
            if status.kind == .successful { return success }
            return Self.verdict(on: status, isFirst) ?? .open(result.response?.statusError() ?? .noResponse)
        case .failure(let error):
            if error.isPrerequisiteFailure { return .open(error) }
            if !isFirst && Self.unsendable.contains(error.kind) { return .open(error) }
            if !error.mayHaveReachedServer, Self.unsendable.contains(error.kind) || error.kind == .unsupportedScheme {
                return .refused(error.kind.rawValue)
            }
            guard error.request?.headerFields[.idempotencyKey] == key else { return .open(error) }
            if Self.redirectErrors.contains(error.kind) { return .refused(error.kind.rawValue) }
            guard let status = error.response?.status else { return .open(error) }
            if error.kind == .status { return Self.verdict(on: status, isFirst) ?? .open(error) }
            return status.kind == .successful && Self.bodyFaults.contains(error.kind) ? success : .open(error)
        }
    }

    /// The successful response of a GET to which a redirect has led.
    ///
    /// It doesn't answer the original request.
    var elsewhere: NetworkResponse? {
        let response: NetworkResponse? =
            switch self {
            case .success(let result): result.response
            case .failure(let error): NetworkResponse(telling: error)
            }
        guard let response, response.status.kind == .successful, response.metrics.turn != nil else { return nil }
        return response
    }

    /// Whether a status means that the same message may be accepted later.
    fileprivate static func isPassing(_ status: HTTPResponse.Status) -> Bool {
        transientStatuses.contains(status.code) || (status.code >= 500 && status != .notImplemented)
    }

    /// Returns the meaning of a status outside 200...299.
    ///
    /// - Returns: `nil` if the entry must be sent again.
    private static func verdict(on status: HTTPResponse.Status, _ isFirst: Bool) -> OutboxVerdict? {
        if isPassing(status) { return nil }
        if !isFirst, repeatStatuses.contains(status.code) { return nil }
        return .refused("\(status.code)")
    }
}

extension NetworkError {
    /// Whether the server hasn't decided on the failed message, so that an outbox would store it.
    var leavesMessageOpen: Bool {
        if isStoredInOutbox { return false }
        return response.map { kind == .status && Outbox.Outcome.isPassing($0.status) } ?? isTransient
    }
}

extension TransferMetrics {
    /// The first hop after which a GET replaced another method.
    fileprivate var turn: Hop? {
        hops.first { hop in
            guard let method = HTTPRequest.Method(hop.method), method != .get else { return false }
            return Redirect.becomesGet(method, after: hop.status)
        }
    }
}

extension NetworkResponse {
    /// Creates the response that an error contains, as far as it was received.
    init?(telling error: NetworkError) {
        guard let response = error.response else { return nil }
        self.init(
            data: error.data ?? Data(),
            response: response,
            url: error.url ?? "",
            metrics: error.metrics ?? TransferMetrics()
        )
    }
}

extension Outbox {
    /// The refusal reason of entries with another page's success.
    static let redirected = "redirected"

    /// Whether a message was answered with 303, "See Other", before redirects continued with GET.
    ///
    /// Such an entry is delivered, and another page describes the result (RFC 9110, 15.4.4). After 301 and 302 this is
    /// unknown: that page may be a sign-in page.
    public static func isSeeOther(_ entry: Entry, _ response: NetworkResponse) -> Bool {
        response.metrics.turn?.status == 303
    }
}

extension NetworkError {
    static func kept(_ id: Outbox.Entry.ID, _ cause: NetworkError) -> NetworkError {
        var error = NetworkError(
            .kept,
            during: .queue,
            "the request could not be sent now and is kept in the outbox: \(cause.message)",
            advice: "do not submit it again; it is sent when the outbox is flushed",
            underlying: cause
        )
        error.outboxEntry = id
        error.mayHaveReachedServer = true
        error.request = cause.request
        return error
    }

    /// The error of a caller that stopped waiting for an entry's response.
    static func left(_ entry: Outbox.Entry) -> NetworkError {
        var error = NetworkError(
            .cancelled,
            during: .queue,
            "waiting for the response was cancelled; the request stays in the outbox",
            advice: "call Outbox.remove if the request should not be sent"
        )
        error.outboxEntry = entry.id
        error.mayHaveReachedServer = true
        return error
    }

    /// The error if a file of an entry that must not be sent any more can't be removed.
    static func notCleared(_ entry: Outbox.Entry, _ cause: NetworkError) -> NetworkError {
        NetworkError(
            .file,
            during: .file,
            "the outbox entry \(entry.id) was processed but could not be removed: \(cause.message)",
            advice: "check the disk before restarting the app: after a restart, the entry would be sent again",
            underlying: cause
        )
    }

    static let heldByAnother = NetworkError(
        .file,
        during: .queue,
        "another process is already sending the entries of the outbox"
    )

    static let noClient = NetworkError(
        .notConfigured,
        during: .queue,
        "older entries must be sent first, and no client is sending them",
        advice: "call Outbox.flush, or call sendAutomatically when the app starts"
    )

    static let notFromServer = NetworkError(
        .other,
        during: .response,
        "the response to the outbox entry came from a cache or from a client that does not report a status",
        advice: "use a client that sends requests to the server"
    )

    static let expired: NetworkError = {
        var error = NetworkError(.timeout, during: .queue, "the entry is older than Outbox.Limits.maxAge")
        error.mayHaveReachedServer = true
        return error
    }()

    static let taken: NetworkError = {
        var error = NetworkError(
            .other,
            during: .queue,
            "the entry is no longer in the outbox, and the server's response is unknown"
        )
        error.mayHaveReachedServer = true
        return error
    }()
}
