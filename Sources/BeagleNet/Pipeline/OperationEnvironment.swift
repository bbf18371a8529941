public import BeagleNetDependencies
public import BeagleNetHTTP
import BeagleNetRequestBuilder
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The client's dependencies that the interceptors of an operation use, as they were when the operation began.
final class OperationEnvironment: Sendable {
    let logger: any BeagleLogger
    let redactor: Redactor
    let clock: any Clock<Duration>
    /// The origins that the app declares as its own.
    let origins: Set<Origin>
    /// The contexts that travel with a request from the caller to the code that receives its events.
    let callerContexts: [any CallerContext]
    /// The policy of operations that don't set one.
    let policy: RequestPolicy?
    /// The partition of operations that don't set one.
    let partition: String
    /// The current time: the system's, unless the app has a clock of its own.
    let now: @Sendable () -> Date
    /// The builder of the client's messages, or `nil` if no client made the operation.
    let builder: HttpRequestBuilder?
    /// Whether the app has chosen that no message reaches a server (`OfflineTransport`).
    let isOffline: Bool
    /// The target of the last message to a declared origin. It saves most lookups, as most messages have the same
    /// target.
    private let lastDeclaredTarget = InlineLock<(scheme: String?, authority: String?)?>(nil)
    /// Whether the logger reads task-local values, which aren't available on other threads.
    let capturesLogger: Bool

    init(
        logger: any BeagleLogger,
        redactor: Redactor,
        clock: any Clock<Duration>,
        origins: Set<Origin>,
        callerContexts: [any CallerContext] = [],
        policy: RequestPolicy? = nil,
        partition: String = "",
        builder: HttpRequestBuilder? = nil,
        isOffline: Bool = false
    ) {
        self.logger = logger
        self.redactor = redactor
        self.clock = clock
        self.origins = origins
        self.callerContexts = callerContexts
        self.policy = policy
        self.partition = partition
        self.builder = builder
        self.isOffline = isOffline
        capturesLogger = logger.captured() != nil
        if clock is ContinuousClock {
            now = { Date() }
        } else {
            let (start, elapsed) = (Date(), clock.stopwatch())
            now = { start.addingTimeInterval(Double(elapsed())) }
        }
    }

    /// Returns a copy with another builder and the origins that it declares.
    func with(_ builder: HttpRequestBuilder) -> OperationEnvironment {
        OperationEnvironment(
            logger: logger,
            redactor: redactor,
            clock: clock,
            origins: builder.ownOrigins,
            callerContexts: callerContexts,
            policy: policy,
            partition: partition,
            builder: builder,
            isOffline: isOffline
        )
    }

    /// Whether a message is sent to one of the declared origins.
    func declares(_ head: HTTPRequest) -> Bool {
        let target = (scheme: head.scheme, authority: head.authority)
        if lastDeclaredTarget.withLock({ last in last.map { $0 == target } ?? false }) { return true }
        guard origins.contains(Origin(of: head)) else { return false }
        lastDeclaredTarget.withLock { $0 = target }
        return true
    }

    /// Returns a request's URL without secrets.
    ///
    /// A form's URL also loses its query, which holds the user's input.
    func redactedURL(_ url: String, of request: Request) -> String {
        guard case .submitForm = request.type, let mark = url.unicodeScalars.firstIndex(of: "?") else {
            return redactor.redact(url: url)
        }
        return redactor.redact(url: String(url[..<mark])) + "?…"
    }

    /// Logs the reason why no message could be built for an operation.
    func log(_ error: NetworkError, of operation: NetworkOperation) {
        guard logger.accepts(.debug) else { return }
        let url = redactedURL(operation.request.url.absoluteString, of: operation.request)
        if error.kind == .badURL { return logger.log(Log.network(.couldNotBuildUrl(url: url))) }
        let response = Log.NetworkResponse(status: nil, url: url, failure: redactor.redact(text: error.message))
        logger.log(Log.network(.httpResponse(response: response)))
    }

    /// The environment of operations that no client has accepted.
    static let none = OperationEnvironment(
        logger: OffLogger(),
        redactor: Redactor(),
        clock: ContinuousClock(),
        origins: []
    )
}

extension NetworkOperation {
    /// The client's logger, to which interceptors log.
    public var logger: any BeagleLogger { capturedLogger ?? operationEnvironment.logger }
    /// Whether the logger accepts messages of a level.
    ///
    /// Avoids copying the logger.
    func logs(_ level: LogLevel) -> Bool {
        if operationEnvironment.capturesLogger { return logger.accepts(level) }
        return operationEnvironment.logger.accepts(level)
    }
    /// The client's redactor, which removes secrets from texts.
    public var redactor: Redactor { operationEnvironment.redactor }
    /// The client's clock, by which interceptors wait.
    public var clock: any Clock<Duration> { operationEnvironment.clock }
    /// The origins that the app declares as its own: those of the client's builder and the origin of its base URL.
    public var declaredOrigins: Set<Origin> { operationEnvironment.origins }
    /// Whether an interceptor's additions, such as header fields, may be sent to the operation's origin.
    ///
    /// - Parameter origins: The permitted origins; `nil` for the declared ones. If the app declares no origin, every
    ///   origin is permitted, as with `HttpRequestBuilder.additionalHeaders`, but adding a credential is an error.
    func isPermitted(for origins: Set<Origin>?) -> Bool {
        if let origins { return origins.contains(origin) }
        return operationEnvironment.origins.isEmpty || operationEnvironment.declares(transfer.head)
    }

    /// Whether neither the interceptor nor the app declares permitted origins.
    func hasUndeclaredOrigins(_ origins: Set<Origin>?) -> Bool { origins == nil && declaredOrigins.isEmpty }

    /// The origin of the operation's URL.
    public var origin: Origin { Origin(of: transfer.head) }

    /// Returns a URL of this operation without secrets, and without its query if it is a form's.
    package func redactedURL(_ url: String) -> String { operationEnvironment.redactedURL(url, of: request) }

    /// The operation's name in a log: `GET https://api.example.com/home`, or
    /// `subscription Prices https://api.example.com/graphql`.
    var logName: String {
        let verb = kind == .subscription ? title : transfer.head.method.rawValue
        return "\(verb ?? kind.name) \(redactedURL(transfer.head.urlText))"
    }
}
