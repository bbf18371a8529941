/// The one error of the stack: what failed, at which phase, why, and what to try.
///
/// Ask it questions (`isTimeout`, `isOffline`, `isCancelled`, `mayHaveReachedServer`) rather than listing kinds. `message` and
/// `advice` hold no secret that a ``Redactor`` knows, whoever wrote them: they may quote a server or a URL.
public struct NetworkError: Error, Sendable {
    /// What failed. An open set: compare with the members below.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        /// The word that the tool's `--json` shows as `code`.
        public let rawValue: String

        /// A kind of this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The URL is malformed, relative without a base, or names no host.
        public static let badURL = Kind(rawValue: "bad_url")
        /// The URL's scheme is neither http nor https.
        public static let unsupportedScheme = Kind(rawValue: "unsupported_scheme")
        /// Method, header or body cannot be sent as they are. Nothing was sent.
        public static let badRequest = Kind(rawValue: "bad_request")
        /// An option or a value of the configuration cannot be used; `message` names it. Nothing was sent.
        public static let badConfiguration = Kind(rawValue: "bad_configuration")
        /// This engine, or the libcurl below it, cannot do what was asked. Nothing was sent.
        public static let unsupported = Kind(rawValue: "unsupported")
        /// A rule of the app's own forbids it: `AddressGuard`, or a function of `RedirectPolicy`.
        public static let blocked = Kind(rawValue: "blocked")
        /// The origin failed too often and is left alone for a while (`CircuitBreakerInterceptor`). Nothing was sent.
        public static let circuitOpen = Kind(rawValue: "circuit_open")
        /// The host name was not resolved.
        public static let dns = Kind(rawValue: "dns")
        /// No connection could be made.
        public static let connect = Kind(rawValue: "connect")
        /// The TLS handshake or the check of the certificate failed.
        public static let tls = Kind(rawValue: "tls")
        /// A time limit passed; `phase` tells which.
        public static let timeout = Kind(rawValue: "timeout")
        /// The connection was lost.
        public static let network = Kind(rawValue: "network")
        /// The body ended before its announced end.
        public static let truncated = Kind(rawValue: "truncated")
        /// The server broke the protocol.
        public static let `protocol` = Kind(rawValue: "protocol")
        /// The body's content encoding is damaged, cut off or too deep.
        public static let encoding = Kind(rawValue: "encoding")
        /// The head or body, or what an image claims to be, is larger than allowed.
        public static let tooLarge = Kind(rawValue: "too_large")
        /// More redirects than allowed.
        public static let tooManyRedirects = Kind(rawValue: "too_many_redirects")
        /// A redirect led from https to http.
        public static let insecureRedirect = Kind(rawValue: "insecure_redirect")
        /// The status is outside 200...299, or is not what opens a WebSocket; `response` and `data` hold the answer.
        public static let status = Kind(rawValue: "status")
        /// The server ended a WebSocket for a reason that is no ordinary end; `WebSocket.peerClose` tells which.
        public static let closed = Kind(rawValue: "closed")
        /// The body is not what was expected of it.
        public static let decoding = Kind(rawValue: "decoding")
        /// A file could not be read or written.
        public static let file = Kind(rawValue: "file")
        /// The request was cancelled.
        public static let cancelled = Kind(rawValue: "cancelled")
        /// It could not be sent now, and waits in an `Outbox`, which sends it later: no reason to submit it again.
        /// `underlying` tells why.
        public static let kept = Kind(rawValue: "kept")
        /// The client or transport was shut down before an answer came.
        public static let shutdown = Kind(rawValue: "shutdown")
        /// Nothing is stored, and the network was not to be asked.
        public static let notStored = Kind(rawValue: "not_stored")
        /// The recording that answers in the network's place has no answer. Nothing was sent.
        public static let notInRecording = Kind(rawValue: "not_in_recording")
        /// No client is set in this container.
        public static let notConfigured = Kind(rawValue: "not_configured")
        /// Anything else; `underlying` tells.
        public static let other = Kind(rawValue: "other")
    }

    /// What was being done when it failed. An open set.
    public struct Phase: RawRepresentable, Sendable, Hashable {
        /// The word that messages and the tool's `--json` show.
        public let rawValue: String

        /// A phase of this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Building the message; nothing was sent.
        public static let build = Phase(rawValue: "build")
        /// Waiting for its turn; nothing was sent.
        public static let queue = Phase(rawValue: "queue")
        /// Resolving the host name.
        public static let resolve = Phase(rawValue: "resolve")
        /// Making the TCP connection.
        public static let connect = Phase(rawValue: "connect")
        /// The TLS handshake.
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
        /// Making a value of the body.
        public static let decode = Phase(rawValue: "decode")
        /// After the whole answer was received.
        public static let response = Phase(rawValue: "response")
    }

    /// What there is to know, behind one reference: whatever may throw, and every task that waits for it, keeps room for an
    /// error, and each step that hands an outcome on copies it.
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
        var isAside = false
        var repetition = TransferRequest.Repetition.ifIdempotent
    }

    private var fields: CopyOnWrite<Fields>

    /// What failed.
    public var kind: Kind {
        get { fields.value.kind }
        set { fields.value.kind = newValue }
    }

    /// What was being done.
    public var phase: Phase {
        get { fields.value.phase }
        set { fields.value.phase = newValue }
    }

    /// What failed and why, as a sentence without capital and full stop. Secrets in it are replaced.
    public var message: String {
        get { fields.value.message }
        set { fields.value.message = Redactor.standard.redact(text: newValue) }
    }

    /// What to try, as a sentence without capital and full stop; nil where there is nothing to say. Secrets in it are replaced.
    public var advice: String? {
        get { fields.value.advice }
        set { fields.value.advice = newValue.map(Redactor.standard.redact(text:)) }
    }

    /// Whether the server may have acted on the request. A request with side effects is safe to send again only
    /// where this is false.
    public var mayHaveReachedServer: Bool {
        get { fields.value.mayHaveReachedServer }
        set { fields.value.mayHaveReachedServer = newValue }
    }

    /// An error of this kind.
    ///
    /// - Parameters:
    ///   - kind: what failed.
    ///   - phase: what was being done.
    ///   - message: what failed and why. Secrets in it are replaced.
    ///   - advice: what to try. Secrets in it are replaced.
    ///   - underlying: the error below this one.
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
                mayHaveReachedServer: Self.reachingPhases.contains(phase),
                underlying: underlying
            )
        )
    }

    private static let reachingPhases: Set<Phase> = [.send, .firstByte, .body, .redirect, .decode, .response]
}

// MARK: - What came of the transfer

extension NetworkError {
    /// The error below this one.
    public var underlying: (any Error)? {
        get { fields.value.underlying }
        set { fields.value.underlying = newValue }
    }

    /// The transport's own number for the failure (libcurl's `CURLcode`), where it has one.
    public var transportCode: Int? {
        get { fields.value.transportCode }
        set { fields.value.transportCode = newValue }
    }

    /// The request that failed, where it was built.
    public var request: HTTPRequest? {
        get { fields.value.request }
        set { fields.value.request = newValue }
    }

    /// The head of the answer, where one came.
    public var response: HTTPResponse? {
        get { fields.value.response }
        set { fields.value.response = newValue }
    }

    /// The URL that answered, after redirects, where an answer came.
    public var url: String? {
        get { fields.value.url }
        set { fields.value.url = newValue }
    }

    /// The body of the answer, where one came.
    public var data: Data? {
        get { fields.value.data }
        set { fields.value.data = newValue }
    }

    /// The `id` of the entry of an `Outbox` that sends the request later; nil where none does.
    public package(set) var outboxEntry: String? {
        get { fields.value.outboxEntry ?? (underlying as? NetworkError)?.outboxEntry }
        set { fields.value.outboxEntry = newValue }
    }

    /// How long a server whose event stream was lost wants clients to wait before they connect again (its `retry`); nil
    /// where it did not say.
    package var reconnectionTime: Duration? {
        get { fields.value.reconnectionTime }
        set { fields.value.reconnectionTime = newValue }
    }

    /// What those have in common who lost the same connection; nil where it was nobody else's.
    package var sharedRetry: SharedRetry? {
        get { fields.value.sharedRetry }
        set { fields.value.sharedRetry = newValue }
    }

    /// Whether it says nothing of the server: it is of what was to be done before the request could be sent, or the app ended a
    /// connection that works.
    package var isAside: Bool {
        get { fields.value.isAside }
        set { fields.value.isAside = newValue }
    }

    /// When the request may be sent again although the server may have acted on it.
    package var repetition: TransferRequest.Repetition {
        get { fields.value.repetition }
        set { fields.value.repetition = newValue }
    }

    /// Phases and sizes up to the failure.
    public var metrics: TransferMetrics? {
        get { fields.value.metrics }
        set { fields.value.metrics = newValue }
    }
}

extension NetworkError {
    /// The error below this one, or this one itself. (The seed's name.)
    public var error: any Error { underlying ?? self }

    /// Whether a time limit passed.
    public var isTimeout: Bool { kind == .timeout }

    /// Whether the request waits in an `Outbox` and is sent later: of kind `.kept`, or of another where only the wait for
    /// its answer ended.
    public var isKept: Bool { outboxEntry != nil }

    /// Whether the request was cancelled.
    public var isCancelled: Bool { kind == .cancelled }

    /// Whether no connection to the server could be made: name not resolved, host not reached, or no answer to the
    /// attempt to connect.
    public var isOffline: Bool {
        kind == .dns || kind == .connect || (kind == .timeout && (phase == .resolve || phase == .connect))
    }

    /// Whether sending the same request again may succeed and cannot do harm: it failed on the way and the server
    /// cannot have acted on it, its method is safe or idempotent (RFC 9110, 9.2.2; of a form it must be safe), it has an
    /// `Idempotency-Key`, or it is a GraphQL query.
    public var isRetryable: Bool {
        isTransient && (!mayHaveReachedServer || request.map(repetition.allows) == true)
    }

    /// Whether it failed on the way, so that the same request may succeed later.
    package var isTransient: Bool {
        switch kind {
        case .dns, .connect, .timeout, .network, .truncated: true
        default: false
        }
    }

    /// The task that would have asked was cancelled before.
    package static let cancelledBeforeStart = NetworkError(
        .cancelled,
        during: .queue,
        "the task was cancelled before it sent the request"
    )

    /// Runs a body that throws anything; what is no `NetworkError` comes out as one, cancellation as `.cancelled`.
    public static func catching<R>(
        _ body: nonisolated(nonsending) () async throws -> R
    ) async throws(NetworkError) -> R {
        do {
            return try await body()
        } catch {
            throw NetworkError(wrapping: error)
        }
    }

    /// Runs what is to be done before a request can be sent, as fetching a credential: its errors say that no server has
    /// acted on that request, whatever became of those that the body sent.
    package static func asideCatching<R>(
        _ body: nonisolated(nonsending) () async throws -> R
    ) async throws(NetworkError) -> R {
        do {
            return try await body()
        } catch {
            throw NetworkError(aside: error)
        }
    }

    /// The same for what need not be waited for.
    package static func asideCatching<R>(_ body: () throws -> R) throws(NetworkError) -> R {
        do {
            return try body()
        } catch {
            throw NetworkError(aside: error)
        }
    }

    /// The error of what was to be done before a request could be sent.
    private init(aside error: any Error) {
        self.init(wrapping: error)
        mayHaveReachedServer = false
        isAside = true
        if !(error is NetworkError) { phase = .queue }
    }

    /// Takes any error for a `NetworkError`: itself where it is one, `.cancelled` for a `CancellationError`, else
    /// `.other` with the error as `underlying` and no more than its type in `message`: what it holds may be secret.
    public init(wrapping error: any Error) {
        switch error {
        case let error as NetworkError: self = error
        case is CancellationError: self = NetworkError(.cancelled, during: .queue, "the request was cancelled")
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
    /// What failed, doing what, for which request, and what to try, in one line.
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
    /// As `description`.
    public var debugDescription: String { description }

    /// What `dump` and a debugger show: of messages no more than which fields they have, of URLs no query, of a body its
    /// size, and of an error below its type.
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
    /// Whether it asks for nothing but an answer (RFC 9110, 9.2.1).
    package var isSafe: Bool { [.get, .head, .options, .trace].contains(self) }

    /// Whether sending the request twice does what sending it once does (RFC 9110, 9.2.2).
    package var isIdempotent: Bool {
        [.get, .head, .options, .trace, .put, .delete].contains(self)
    }
}

extension HTTPRequest {
    /// The URL on the wire.
    package var urlText: String { Self.urlText(scheme ?? "", authority ?? "", path ?? "/") }

    /// A URL of these parts.
    package static func urlText(_ scheme: String, _ authority: String, _ path: String) -> String {
        let count = scheme.utf8.count + 3 + authority.utf8.count + path.utf8.count
        // Bytes into a string of their number: less than half the work of joining strings.
        return String(unsafeUninitializedCapacity: count) { bytes in
            var end = bytes.write(scheme, at: 0)
            end = bytes.write("://", at: end)
            end = bytes.write(authority, at: end)
            return bytes.write(path, at: end)
        }
    }

    /// The URL without user and query, for messages: they may hold a secret.
    package var redactedURL: String {
        var authority = (authority ?? "")[...]
        if let at = authority.unicodeScalars.lastIndex(of: "@") { authority = "…\(authority[at...])" }
        let path = path ?? "/"
        guard let mark = path.unicodeScalars.firstIndex(of: "?") else { return "\(scheme ?? "")://\(authority)\(path)" }
        return "\(scheme ?? "")://\(authority)\(path[..<mark])?…"
    }
}

extension UnsafeMutableBufferPointer<UInt8> {
    /// Writes a text's bytes from a place on and gives the place behind them. There has to be room.
    fileprivate func write(_ text: String, at place: Int) -> Int {
        var text = text
        return text.withUTF8 { self[place...].initialize(fromContentsOf: $0) }
    }
}
