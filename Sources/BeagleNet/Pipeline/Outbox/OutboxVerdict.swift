import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
    /// What they say of a message that may have been sent before, or with credentials that are not kept, may pass: the
    /// first is still worked on (draft-ietf-httpapi-idempotency-key-header, 2.7), or somebody has to sign in.
    private static let repeatStatuses: Set<Int> = [401, 407, 409]
    /// What is wrong with a body that nobody needs.
    private static let bodyFaults: Set<NetworkError.Kind> = [.tooLarge, .encoding, .decoding]
    /// What the server does with the message every time.
    private static let misdirections: Set<NetworkError.Kind> = [.tooManyRedirects, .insecureRedirect]
    /// What our own rules refuse before anything is sent, as long as the client is the same.
    private static let unsendable: Set<NetworkError.Kind> = [.badURL, .badRequest]

    /// What the outcome of a sending means. Only what answers the entry itself is definite, not what failed that was asked
    /// in order to send it, as for a token.
    ///
    /// - Parameters:
    ///   - key: the entry's.
    ///   - isFirst: whether the message was never sent before and somebody hears the answer.
    ///   - isDelivered: what a success means: no, where it is another page's and may not tell of the entry.
    func verdict(for key: String, isFirst: Bool, isDelivered: Bool = true) -> OutboxVerdict {
        let success = isDelivered ? OutboxVerdict.accepted : .refused(Outbox.redirected)
        switch self {
        case .success(let result):
            guard result.source == .network, let status = result.status else { return .open(.notFromServer) }
            if status.kind == .successful { return success }
            return Self.verdict(on: status, isFirst) ?? .open(result.response?.refusal() ?? .noResponse)
        case .failure(let error):
            if error.isAside { return .open(error) }
            if !isFirst && Self.unsendable.contains(error.kind) { return .open(error) }
            if !error.mayHaveReachedServer, Self.unsendable.contains(error.kind) || error.kind == .unsupportedScheme {
                return .refused(error.kind.rawValue)
            }
            guard error.request?.headerFields[.idempotencyKey] == key else { return .open(error) }
            if Self.misdirections.contains(error.kind) { return .refused(error.kind.rawValue) }
            guard let status = error.response?.status else { return .open(error) }
            if error.kind == .status { return Self.verdict(on: status, isFirst) ?? .open(error) }
            return status.kind == .successful && Self.bodyFaults.contains(error.kind) ? success : .open(error)
        }
    }

    /// A success to which a redirect has led with a GET: what was asked for is not what it answers.
    var elsewhere: NetworkResponse? {
        let response: NetworkResponse? =
            switch self {
            case .success(let result): result.response
            case .failure(let error): NetworkResponse(telling: error)
            }
        guard let response, response.status.kind == .successful, response.metrics.turn != nil else { return nil }
        return response
    }

    /// Whether a status says that the same message may be accepted later.
    fileprivate static func isPassing(_ status: HTTPResponse.Status) -> Bool {
        passingStatuses.contains(status.code) || (status.code >= 500 && status != .notImplemented)
    }

    /// What a status outside 200...299 means.
    ///
    /// - Returns: nil where the entry is to be sent again.
    private static func verdict(on status: HTTPResponse.Status, _ isFirst: Bool) -> OutboxVerdict? {
        if isPassing(status) { return nil }
        if !isFirst, repeatStatuses.contains(status.code) { return nil }
        return .refused("\(status.code)")
    }
}

extension NetworkError {
    /// Whether the server has not decided on a message that failed like this, so that an outbox would keep it.
    var leavesMessageOpen: Bool {
        if isKept { return false }
        return response.map { kind == .status && Outbox.Outcome.isPassing($0.status) } ?? isTransient
    }
}

extension TransferMetrics {
    /// The first hop that was followed by a GET in the place of another method.
    fileprivate var turn: TransferHop? {
        hops.first { hop in
            guard let method = HTTPRequest.Method(hop.method), method != .get else { return false }
            return Redirect.becomesGet(method, after: hop.status)
        }
    }
}

extension NetworkResponse {
    /// The answer of which an error tells, as far as it came.
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
    /// Why an entry is refused whose success is that of another page.
    static let redirected = "redirected"

    /// Whether a message was answered with 303, "See Other", before its redirects led on with GET: it is done, and another
    /// page tells of it (RFC 9110, 15.4.4). After 301 and 302 nobody can say: that page may be one to sign in at.
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

    /// Somebody has left the wait for an entry's answer.
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

    /// An entry that is not to be sent any more lies where it lay.
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

    static let nobodySends = NetworkError(
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
