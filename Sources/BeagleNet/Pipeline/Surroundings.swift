public import BeagleNetDependencies
public import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a client lends the interceptors of an operation: the dependencies of its container as they were when it began.
final class Surroundings: Sendable {
    let logger: any BeagleLogger
    let redactor: Redactor
    let clock: any Clock<Duration>
    /// The origins that the app declares as its own.
    let origins: Set<Origin>
    /// What goes with a request from who asks to who hears.
    let callerContexts: [any CallerContext]
    /// Whether stored answers will do for operations that do not say.
    let policy: RequestPolicy?
    /// The current time: the system's, unless the app has a clock of its own.
    let now: @Sendable () -> Date
    /// What makes the client's messages; nil for those that no client has made.
    let builder: HttpRequestBuilder?
    /// Whether no message reaches a server, by the app's own choice (`OfflineTransport`).
    let isOffline: Bool
    /// The last message that went to one of the origins: most go to the same.
    private let lastDeclared = InlineLock<(scheme: String?, authority: String?)?>(nil)
    /// Whether the logger reads task-local values, which other threads don't have.
    let capturesLogger: Bool

    init(
        logger: any BeagleLogger,
        redactor: Redactor,
        clock: any Clock<Duration>,
        origins: Set<Origin>,
        callerContexts: [any CallerContext] = [],
        policy: RequestPolicy? = nil,
        builder: HttpRequestBuilder? = nil,
        isOffline: Bool = false
    ) {
        self.logger = logger
        self.redactor = redactor
        self.clock = clock
        self.origins = origins
        self.callerContexts = callerContexts
        self.policy = policy
        self.builder = builder
        self.isOffline = isOffline
        capturesLogger = logger.captured() != nil
        if clock is ContinuousClock { now = { Date() } } else { now = Self.time(by: clock) }
    }

    private static func time(by clock: some Clock<Duration>) -> @Sendable () -> Date {
        let (start, instant) = (Date(), clock.now)
        return { start.addingTimeInterval(Double(instant.duration(to: clock.now))) }
    }

    /// The same with another builder, and the origins that it declares.
    func with(_ builder: HttpRequestBuilder) -> Surroundings {
        Surroundings(
            logger: logger,
            redactor: redactor,
            clock: clock,
            origins: builder.ownOrigins,
            callerContexts: callerContexts,
            policy: policy,
            builder: builder,
            isOffline: isOffline
        )
    }

    /// Whether a message goes to one of the declared origins.
    func declares(_ head: HTTPRequest) -> Bool {
        let target = (scheme: head.scheme, authority: head.authority)
        if lastDeclared.withLock({ last in last.map { $0 == target } ?? false }) { return true }
        guard origins.contains(Origin(of: head)) else { return false }
        lastDeclared.withLock { $0 = target }
        return true
    }

    /// A URL of a request without secrets; of a form's without its query, which holds what a person typed.
    func shown(_ url: String, of request: Request) -> String {
        guard case .submitForm = request.type, let mark = url.unicodeScalars.firstIndex(of: "?") else {
            return redactor.redact(url: url)
        }
        return redactor.redact(url: String(url[..<mark])) + "?…"
    }

    /// Logs why no message could be made of an operation.
    func log(_ error: NetworkError, of operation: NetworkOperation) {
        guard logger.accepts(.debug) else { return }
        let url = shown(operation.request.url.absoluteString, of: operation.request)
        if error.kind == .badURL { return logger.log(Log.network(.couldNotBuildUrl(url: url))) }
        let response = Log.NetworkResponse(status: nil, url: url, failure: redactor.redact(text: error.message))
        logger.log(Log.network(.httpResponse(response: response)))
    }

    /// Those of an operation that no client has taken on.
    static let none = Surroundings(logger: OffLogger(), redactor: Redactor(), clock: ContinuousClock(), origins: [])
}

extension NetworkOperation {
    /// Where interceptors say what they did; the client's logger.
    public var logger: any BeagleLogger { capturedLogger ?? surroundings.logger }
    /// Whether its logger accepts messages of a level; the logger isn't copied for that.
    func logs(_ level: LogLevel) -> Bool {
        if surroundings.capturesLogger { return logger.accepts(level) }
        return surroundings.logger.accepts(level)
    }
    /// Tells what must not be shown; the client's.
    public var redactor: Redactor { surroundings.redactor }
    /// What interceptors wait by; the client's.
    public var clock: any Clock<Duration> { surroundings.clock }
    /// The origins that the app declares as its own: those of the client's builder and that of its
    /// base URL.
    public var declaredOrigins: Set<Origin> { surroundings.origins }
    /// Whether what an interceptor adds is for the origin that is asked.
    ///
    /// - Parameter origins: those that may have it; `nil` for the declared ones. Where none is declared, every origin may,
    ///   as with `HttpRequestBuilder.additionalHeaders`, but a credential is an error.
    func isMeant(for origins: Set<Origin>?) -> Bool {
        if let origins { return origins.contains(origin) }
        return surroundings.origins.isEmpty || surroundings.declares(transfer.head)
    }

    /// Whether neither the interceptor nor the app says which origins may have what is added.
    func hasUndeclaredOrigins(_ origins: Set<Origin>?) -> Bool { origins == nil && declaredOrigins.isEmpty }

    /// The origin that is asked.
    public var origin: Origin { Origin(of: transfer.head) }

    /// A URL of this operation without secrets; of a form's without its query.
    package func shown(_ url: String) -> String { surroundings.shown(url, of: request) }

    /// Its name in a log: `GET https://api.example.com/home`, or `subscription Prices https://api.example.com/graphql`.
    var line: String {
        let verb = kind == .subscription ? title : transfer.head.method.rawValue
        return "\(verb ?? kind.name) \(shown(transfer.head.urlText))"
    }
}
