/// The error type of the package, with the kind and phase of a failure, its reason and advice.
///
/// Prefer its properties (`isTimeout`, `isOffline`, `isCancelled`, `mayHaveReachedServer`) to comparing kinds.
/// `message` and `advice` may quote a server or a URL, so all secrets that a ``Redactor`` recognizes are redacted.
public struct NetworkError: Error, Sendable {
    /// The kind of a failure: an open set, which includes the members below.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        /// The name of the kind, which the command line tool's `--json` shows as `code`.
        public let rawValue: String

        /// Creates a kind with a name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The URL is malformed, relative without a base, or has no host.
        public static let badURL = Kind(rawValue: "bad_url")
        /// The URL's scheme is neither http nor https.
        public static let unsupportedScheme = Kind(rawValue: "unsupported_scheme")
        /// The method, a header or the body can't be sent as it is, so nothing was sent.
        public static let badRequest = Kind(rawValue: "bad_request")
        /// An option or configuration value, named in `message`, is invalid, so nothing was sent.
        public static let badConfiguration = Kind(rawValue: "bad_configuration")
        /// The transport, or its version of libcurl, doesn't support the request, so nothing was sent.
        public static let unsupported = Kind(rawValue: "unsupported")
        /// A rule of the app forbids the request: `TransferOptions.AddressGuard`, `ScreenRequest.Rules`, or a closure
        /// of `TransferOptions.RedirectPolicy`.
        public static let blocked = Kind(rawValue: "blocked")
        /// The origin failed too often and isn't used for a while (`CircuitBreakerInterceptor`), so nothing was sent.
        public static let circuitOpen = Kind(rawValue: "circuit_open")
        /// The host name couldn't be resolved.
        public static let dns = Kind(rawValue: "dns")
        /// The connection couldn't be established.
        public static let connect = Kind(rawValue: "connect")
        /// The TLS handshake or certificate verification failed.
        public static let tls = Kind(rawValue: "tls")
        /// A timeout expired; `phase` says which.
        public static let timeout = Kind(rawValue: "timeout")
        /// The connection was lost.
        public static let network = Kind(rawValue: "network")
        /// The body ended early.
        public static let truncated = Kind(rawValue: "truncated")
        /// The server violated the protocol.
        public static let `protocol` = Kind(rawValue: "protocol")
        /// The body's content encoding is corrupt, truncated or nested too deeply.
        public static let encoding = Kind(rawValue: "encoding")
        /// The head, the body or the declared size of an image exceeds the limit.
        public static let tooLarge = Kind(rawValue: "too_large")
        /// There were more redirects than allowed.
        public static let tooManyRedirects = Kind(rawValue: "too_many_redirects")
        /// A redirect led from https to http.
        public static let insecureRedirect = Kind(rawValue: "insecure_redirect")
        /// The status is outside 200...299, or doesn't open a WebSocket.
        ///
        /// `response` and `data` hold the response.
        public static let status = Kind(rawValue: "status")
        /// The server closed a WebSocket abnormally; `WebSocket.peerClose` has the reason.
        public static let closed = Kind(rawValue: "closed")
        /// The body doesn't have the expected content.
        public static let decoding = Kind(rawValue: "decoding")
        /// A file couldn't be read or written.
        public static let file = Kind(rawValue: "file")
        /// The request was cancelled.
        public static let cancelled = Kind(rawValue: "cancelled")
        /// The request couldn't be sent now and is stored in an `Outbox`, which sends it later.
        ///
        /// `underlying` has the reason. Don't submit the request again.
        public static let kept = Kind(rawValue: "kept")
        /// The client or transport was shut down before a response arrived.
        public static let shutdown = Kind(rawValue: "shutdown")
        /// There is no stored response, and the request didn't allow using the network.
        public static let notStored = Kind(rawValue: "not_stored")
        /// The recording that replaces the network has no matching response, and nothing was sent.
        public static let notInRecording = Kind(rawValue: "not_in_recording")
        /// The dependency container has no client.
        public static let notConfigured = Kind(rawValue: "not_configured")
        /// Any other failure; see `underlying`.
        public static let other = Kind(rawValue: "other")
    }

    /// The phase in which a request failed: an open set, which includes the members below.
    public struct Phase: RawRepresentable, Sendable, Hashable {
        /// The name of the phase, which messages and the command line tool's `--json` show.
        public let rawValue: String

        /// Creates a phase with a name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Building the request, before anything is sent.
        public static let build = Phase(rawValue: "build")
        /// Waiting in a queue, before anything is sent.
        public static let queue = Phase(rawValue: "queue")
        /// Resolving the host name.
        public static let resolve = Phase(rawValue: "resolve")
        /// Establishing the TCP connection.
        public static let connect = Phase(rawValue: "connect")
        /// Performing the TLS handshake.
        public static let tls = Phase(rawValue: "tls")
        /// Sending the request.
        public static let send = Phase(rawValue: "send")
        /// Waiting for the first byte, and reading the head.
        public static let firstByte = Phase(rawValue: "first byte")
        /// Reading the body.
        public static let body = Phase(rawValue: "body")
        /// Following a redirect.
        public static let redirect = Phase(rawValue: "redirect")
        /// Reading or writing a file.
        public static let file = Phase(rawValue: "file")
        /// Decoding the body.
        public static let decode = Phase(rawValue: "decode")
        /// Handling the complete response.
        public static let response = Phase(rawValue: "response")
    }

    /// The properties of an error, stored behind one reference to keep errors small.
    ///
    /// Every function that may throw and every task that waits for it reserves space for an error, and each step that
    /// passes a result on copies it.
    private struct Fields: Sendable {
        var kind: Kind
        var phase: Phase
        var message: String
        var advice: String?
        var mayHaveReachedServer: Bool
        var underlying: (any Error)?
        var transportCode: Int?
        var request: HTTPRequest?
        var response: HTTPResponse?
        var url: String?
        var data: Data?
        var metrics: TransferMetrics?
        var outboxEntry: String?
        var reconnectionTime: Duration?
        var sharedRetry: SharedRetry?
        var isPrerequisiteFailure = false
        var resendPolicy = TransferRequest.ResendPolicy.ifIdempotent
    }

    private var fields: CopyOnWrite<Fields>

    /// The kind of the failure.
    public var kind: Kind {
        get { fields.value.kind }
        set { fields.value.kind = newValue }
    }

    /// The phase in which the request failed.
    public var phase: Phase {
        get { fields.value.phase }
        set { fields.value.phase = newValue }
    }

    /// The failure and its reason, as a sentence without a capital letter and full stop.
    ///
    /// Secrets in it are redacted.
    public var message: String {
        get { fields.value.message }
        set { fields.value.message = Redactor.standard.redact(text: newValue) }
    }

    /// A suggestion for what to try, as a sentence without a capital letter and full stop, or `nil`.
    ///
    /// Secrets in it are redacted.
    public var advice: String? {
        get { fields.value.advice }
        set { fields.value.advice = newValue.map(Redactor.standard.redact(text:)) }
    }

    /// Whether the server may have acted on the request.
    ///
    /// A request with side effects is safe to resend only if this is `false`.
    public var mayHaveReachedServer: Bool {
        get { fields.value.mayHaveReachedServer }
        set { fields.value.mayHaveReachedServer = newValue }
    }

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - kind: The kind of the failure.
    ///   - phase: The phase in which the request failed.
    ///   - message: The failure and its reason. Secrets in it are redacted.
    ///   - advice: A suggestion for what to try. Secrets in it are redacted.
    ///   - underlying: The error that caused this one.
    public init(
        _ kind: Kind,
        during phase: Phase,
        _ message: String,
        advice: String? = nil,
        underlying: (any Error)? = nil
    ) {
        fields = CopyOnWrite(
            Fields(
                kind: kind,
                phase: phase,
                message: Redactor.standard.redact(text: message),
                advice: advice.map(Redactor.standard.redact(text:)),
                mayHaveReachedServer: Self.phasesAfterSending.contains(phase),
                underlying: underlying
            )
        )
    }

    private static let phasesAfterSending: Set<Phase> = [.send, .firstByte, .body, .redirect, .decode, .response]
}

// MARK: - Details of the transfer

extension NetworkError {
    /// The error that caused this one.
    public var underlying: (any Error)? {
        get { fields.value.underlying }
        set { fields.value.underlying = newValue }
    }

    /// The transport's own error code (libcurl's `CURLcode`), if it has one.
    public var transportCode: Int? {
        get { fields.value.transportCode }
        set { fields.value.transportCode = newValue }
    }

    /// The request that failed, if it was built.
    public var request: HTTPRequest? {
        get { fields.value.request }
        set { fields.value.request = newValue }
    }

    /// The head of the response, if there was one.
    public var response: HTTPResponse? {
        get { fields.value.response }
        set { fields.value.response = newValue }
    }

    /// The URL that responded, after redirects, if there was a response.
    public var url: String? {
        get { fields.value.url }
        set { fields.value.url = newValue }
    }

    /// The body of the response, if there was one.
    public var data: Data? {
        get { fields.value.data }
        set { fields.value.data = newValue }
    }

    /// The `id` of the `Outbox` entry that will send the request later, if there is one.
    public package(set) var outboxEntry: String? {
        get { fields.value.outboxEntry ?? (underlying as? NetworkError)?.outboxEntry }
        set { fields.value.outboxEntry = newValue }
    }

    /// The delay before reconnecting that the server of a lost event stream asked for (its `retry`), if it did.
    package var reconnectionTime: Duration? {
        get { fields.value.reconnectionTime }
        set { fields.value.reconnectionTime = newValue }
    }

    /// The state shared by the requests that lost the same connection, or `nil` if no other request used it.
    package var sharedRetry: SharedRetry? {
        get { fields.value.sharedRetry }
        set { fields.value.sharedRetry = newValue }
    }

    /// Whether the error says nothing about the server, because a prerequisite of the request failed, or the app closed
    /// a working connection.
    package var isPrerequisiteFailure: Bool {
        get { fields.value.isPrerequisiteFailure }
        set { fields.value.isPrerequisiteFailure = newValue }
    }

    /// The condition under which the request may be resent even if the server may have acted on it.
    package var resendPolicy: TransferRequest.ResendPolicy {
        get { fields.value.resendPolicy }
        set { fields.value.resendPolicy = newValue }
    }

    /// The timings and sizes up to the failure.
    public var metrics: TransferMetrics? {
        get { fields.value.metrics }
        set { fields.value.metrics = newValue }
    }
}

extension NetworkError {
    /// The underlying error, or this error if `underlying` is `nil`.
    ///
    /// The property keeps this name for source compatibility.
    public var error: any Error { underlying ?? self }

    /// Whether a timeout expired.
    public var isTimeout: Bool { kind == .timeout }

    /// Whether the request is stored in an `Outbox` that sends it later.
    ///
    /// The kind is `.kept`, or another kind if the app only stopped waiting for the response.
    public var isStoredInOutbox: Bool { outboxEntry != nil }

    /// Whether the request was cancelled.
    public var isCancelled: Bool { kind == .cancelled }

    /// Whether no connection could be established: the name wasn't resolved, the host wasn't reached, or it didn't
    /// respond to the connection attempt.
    public var isOffline: Bool {
        kind == .dns || kind == .connect || (kind == .timeout && (phase == .resolve || phase == .connect))
    }

    /// Whether resending the request may succeed and is safe.
    ///
    /// The network must have failed, and one of these must be true: the server can't have acted on the request, its
    /// method is idempotent (RFC 9110, 9.2.2; for a form, it must be safe), it has an `Idempotency-Key`, or it is a
    /// GraphQL query.
    public var isRetryable: Bool {
        isTransient && (!mayHaveReachedServer || request.map(resendPolicy.allows) == true)
    }

    /// Whether the network failed, so that the same request may succeed later.
    package var isTransient: Bool {
        switch kind {
        case .dns, .connect, .timeout, .network, .truncated: true
        default: false
        }
    }

    /// The error of a task that was cancelled before it sent a request.
    package static let cancelledBeforeStart = NetworkError(
        .cancelled,
        during: .queue,
        "the task was cancelled before it sent the request"
    )

    /// Calls a closure and converts its errors to `NetworkError`.
    ///
    /// Cancellation becomes `.cancelled`.
    public static func catching<R>(
        _ body: nonisolated(nonsending) () async throws -> R
    ) async throws(NetworkError) -> R {
        do {
            return try await body()
        } catch {
            throw NetworkError(wrapping: error)
        }
    }

    /// Performs a prerequisite of a request, such as fetching a credential.
    ///
    /// Its errors say that no server has acted on the request itself, regardless of any requests that the closure sent.
    package static func catchingPrerequisite<R>(
        _ body: nonisolated(nonsending) () async throws -> R
    ) async throws(NetworkError) -> R {
        do {
            return try await body()
        } catch {
            throw NetworkError(prerequisite: error)
        }
    }

    /// Performs a synchronous prerequisite of a request.
    package static func catchingPrerequisite<R>(_ body: () throws -> R) throws(NetworkError) -> R {
        do {
            return try body()
        } catch {
            throw NetworkError(prerequisite: error)
        }
    }

    /// Creates the error of a failed prerequisite.
    private init(prerequisite error: any Error) {
        self.init(wrapping: error)
        mayHaveReachedServer = false
        isPrerequisiteFailure = true
        if !(error is NetworkError) { phase = .queue }
    }

    /// Returns the error for a request that was cancelled in a phase.
    package static func cancelled(during phase: Phase) -> NetworkError {
        NetworkError(.cancelled, during: phase, "the request was cancelled")
    }

    /// Converts any error to a `NetworkError`.
    ///
    /// A `NetworkError` is used as it is, and a `CancellationError` becomes `.cancelled`. Any other error becomes
    /// `.other` with the error as `underlying`. In that case `message` has only the type of the error, because its
    /// contents may be secret.
    public init(wrapping error: any Error) {
        switch error {
        case let error as NetworkError: self = error
        case is CancellationError: self = .cancelled(during: .queue)
        default:
            self = NetworkError(
                .other,
                during: .response,
                "\(type(of: error)) was thrown",
                advice: "see the underlying error",
                underlying: error
            )
        }
    }
}

extension NetworkError: CustomStringConvertible {
    /// The failure, kind, phase, request and advice in one line.
    public var description: String {
        var text = message
        if let request {
            text = "\(request.method.rawValue) \(request.redactedURL): \(text)"
        } else if let url {
            text = "\(Redactor.standard.redact(url: url)): \(text)"
        }
        text += " [\(kind.rawValue), \(phase.rawValue)]"
        if let advice { text += "; \(advice)" }
        return text
    }
}

extension NetworkError: CustomDebugStringConvertible, CustomReflectable {
    /// The same text as `description`.
    public var debugDescription: String { description }

    /// The properties that `dump` and a debugger show.
    ///
    /// Secrets are left out: header fields appear by name, URLs without their query, a body as its size, and an
    /// underlying error of another type as its type.
    public var customMirror: Mirror {
        var children: [(label: String, value: Any?)] = [
            ("kind", kind.rawValue), ("phase", phase.rawValue), ("message", message), ("advice", advice),
            ("mayHaveReachedServer", mayHaveReachedServer), ("transportCode", transportCode),
            ("request", request.map { "\($0.method.rawValue) \($0.redactedURL)" }),
            ("requestFields", request?.headerFields.map(\.name.rawName)), ("status", response?.status.code),
            ("responseFields", response?.headerFields.map(\.name.rawName)),
            ("data", data.map { "\($0.count) bytes" }), ("metrics", metrics),
        ]
        if let underlying { children.append(("underlying", underlying as? NetworkError ?? "\(type(of: underlying))")) }
        let known = children.compactMap { child in child.value.map { (label: child.label as String?, value: $0) } }
        return Mirror(self, children: known, displayStyle: .struct)
    }
}

extension HTTPRequest.Method {
    /// Whether the method is read-only (RFC 9110, 9.2.1).
    package var isSafe: Bool { [.get, .head, .options, .trace].contains(self) }

    /// Whether sending the request twice has the same effect as sending it once (RFC 9110, 9.2.2).
    package var isIdempotent: Bool {
        [.get, .head, .options, .trace, .put, .delete].contains(self)
    }
}

extension HTTPRequest {
    /// The URL as it is sent.
    package var urlText: String { Self.urlText(scheme ?? "", authority ?? "", path ?? "/") }

    /// Returns a URL with these parts.
    package static func urlText(_ scheme: String, _ authority: String, _ path: String) -> String {
        let count = scheme.utf8.count + 3 + authority.utf8.count + path.utf8.count
        // Writing bytes into a string of known size takes less than half the time of joining strings.
        return String(unsafeUninitializedCapacity: count) { bytes in
            var end = bytes.write(scheme, at: 0)
            end = bytes.write("://", at: end)
            end = bytes.write(authority, at: end)
            return bytes.write(path, at: end)
        }
    }

    /// The URL for messages, without user and query, which may contain secrets.
    package var redactedURL: String {
        var authority = (authority ?? "")[...]
        if let at = authority.unicodeScalars.lastIndex(of: "@") { authority = "…\(authority[at...])" }
        let path = path ?? "/"
        guard let mark = path.unicodeScalars.firstIndex(of: "?") else { return "\(scheme ?? "")://\(authority)\(path)" }
        return "\(scheme ?? "")://\(authority)\(path[..<mark])?…"
    }
}

extension UnsafeMutableBufferPointer<UInt8> {
    /// Writes the bytes of a text at an index and returns the index after them. The buffer must be large enough.
    fileprivate func write(_ text: String, at place: Int) -> Int {
        var text = text
        return text.withUTF8 { self[place...].initialize(fromContentsOf: $0) }
    }
}
