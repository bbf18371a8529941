import BeagleNet
import BeagleNetHTTP
import Tracing

/// The spans of one attempt, with one more for each redirect.
final class AttemptSpans: Sendable {
    private let operation: NetworkOperation
    private let tracer: any Tracer
    private let instrument: any Instrument
    private let parent: ServiceContext
    private let rules: SpanRules
    private let run: OperationRun
    /// The current request, or `nil` after the end.
    ///
    /// It changes on the transport's thread, which follows redirects.
    private let current = Lock<SentRequest?>(nil)

    /// A request in flight.
    private struct SentRequest: Sendable {
        let span: any Span
        let start: DefaultTracerClock.Timestamp
        /// The number of earlier requests of the operation.
        let resends: Int
    }

    init(of operation: NetworkOperation, _ given: (any Tracer)?, _ rules: SpanRules) {
        self.operation = operation
        self.rules = rules
        tracer = given ?? InstrumentationSystem.tracer
        instrument = given ?? InstrumentationSystem.instrument
        run = operation.run ?? OperationRun()
        // A later attempt may run on the transport's thread, which has no context.
        let first = run.value(for: AttemptSpans.self) { ServiceContext.current ?? .topLevel }
        parent = ServiceContext.current ?? first
    }

    /// Begins the first span, injects its trace into the request, and registers for redirects.
    ///
    /// - Returns: The context for the rest of the pipeline.
    func begin(_ operation: inout NetworkOperation) -> ServiceContext {
        let sent = sent(operation.transfer.head)
        current.withLock { $0 = sent }
        let fields = injectTrace(of: sent.span, into: &operation.transfer)
        // Baggage may identify the caller.
        operation.note(tracing: fields.filter { $0.canonicalName != FieldInjector.baggage })
        operation.onRedirect { response, _, next in self.redirect(response, to: &next) }
        return sent.span.context
    }

    /// Ends the last span.
    func end(_ ending: AttemptOutcome) {
        guard let sent = exchange(for: nil) else { return }
        let (span, metrics) = (sent.span, ending.metrics)
        span.updateAttributes { attributes in
            if let peer = metrics?.peer {
                attributes["network.peer.address"] = peer.address
                attributes["network.peer.port"] = peer.port
            }
            if let version = metrics?.protocolVersion { attributes[AttributeName.protocolVersion] = version }
            if let metrics, metrics.resends > 0 {
                attributes["http.request.resend_count"] = sent.resends + metrics.resends
                run.add(metrics.resends)
            }
        }
        if span.isRecording {
            for event in metrics?.events(from: sent.start) ?? [] { span.addEvent(event) }
        }
        span.end(status: ending.status, ending.errorType, ending.failure?.message)
    }

    /// Ends the span of the request that was redirected, and begins the span of the next one.
    private func redirect(_ response: HTTPResponse, to next: inout TransferRequest) {
        // Does nothing after the end.
        guard current.withLock({ $0 != nil }) else { return }
        let sent = sent(next.head)
        _ = injectTrace(of: sent.span, into: &next)
        guard let answered = exchange(for: sent) else { return sent.span.end() }
        answered.span.end(status: response.status.code, nil, nil)
    }

    /// Replaces the current request, except after the end.
    ///
    /// - Returns: The previous request, or `nil` after the end.
    private func exchange(for next: SentRequest?) -> SentRequest? {
        current.withLock { current in
            defer { if current != nil { current = next } }
            return current
        }
    }

    /// Begins the span of a request.
    private func sent(_ head: HTTPRequest) -> SentRequest {
        let start = DefaultTracerClock.now
        let resends = run.add()
        return SentRequest(span: span(of: head, resends: resends, at: start), start: start, resends: resends)
    }

    /// Starts a span for a request.
    ///
    /// - Parameter resends: The number of earlier requests of the operation.
    private func span(of head: HTTPRequest, resends: Int, at start: DefaultTracerClock.Timestamp) -> any Span {
        let method = head.method.attribute
        var name = method == AttributeName.other ? "HTTP" : method
        let template = operation.urlTemplate
        if let template { name += " \(template)" }
        let span = tracer.startSpan(name, context: parent, ofKind: .client, at: start)
        let origin = Origin(of: head)
        span.updateAttributes { attributes in
            attributes[AttributeName.method] = method
            if method == AttributeName.other { attributes["http.request.method_original"] = head.method.rawValue }
            attributes[AttributeName.address] = origin.address
            attributes[AttributeName.port] = origin.port
            attributes["url.full"] = operation.redactedURL(head.urlText)
            if let template { attributes[AttributeName.template] = template }
            if resends > 0 { attributes["http.request.resend_count"] = resends }
            attributes["beagle.request.type"] = operation.kind.name
            if operation.kind.isGraphQL { attributes["graphql.operation.type"] = operation.kind.name }
            if let name = operation.operationName { attributes["graphql.operation.name"] = name }
        }
        return span
    }

    /// Injects the trace into a request if its origin may receive it; a redirect to another origin drops the fields.
    ///
    /// - Returns: The names of the injected fields.
    private func injectTrace(of span: any Span, into message: inout TransferRequest) -> Set<HTTPField.Name> {
        var fields = HTTPFields()
        instrument.inject(span.context, into: &fields, using: FieldInjector(sendsBaggage: rules.sendsBaggage))
        let names = Set(fields.map(\.name))
        message.originScopedFields.formUnion(names)
        guard (rules.origins ?? operation.declaredOrigins).contains(Origin(of: message.head)) else { return [] }
        message.head.headerFields.replace(with: fields)
        return names
    }
}

/// An injector of the trace into header fields.
private struct FieldInjector: Injector {
    static let baggage = "baggage"
    let sendsBaggage: Bool

    func inject(_ value: String, forKey key: String, into fields: inout HTTPFields) {
        guard let name = HTTPField.Name(key), sendsBaggage || name.canonicalName != Self.baggage else { return }
        fields[name] = value
    }
}

extension HTTPFields {
    fileprivate mutating func replace(with fields: HTTPFields) {
        for field in fields { self[field.name] = field.value }
    }
}

extension Span {
    /// Ends the span with the status of the response, and the error if there is one.
    fileprivate func end(status: Int?, _ errorType: String?, _ message: String?) {
        updateAttributes { attributes in
            if let status { attributes[AttributeName.status] = status }
            if let errorType { attributes[AttributeName.errorType] = errorType }
        }
        if errorType != nil { setStatus(SpanStatus(code: .error, message: message)) }
        end()
    }
}
