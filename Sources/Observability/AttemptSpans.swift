import BeagleNet
import BeagleNetHTTP
import Tracing

/// The spans of one attempt: one, and one more for each redirect.
final class AttemptSpans: Sendable {
    private let operation: NetworkOperation
    private let tracer: any Tracer
    private let instrument: any Instrument
    private let parent: ServiceContext
    private let rules: SpanRules
    /// The span of the message that is out; nil after the end. It changes on the transport's thread, which follows
    /// redirects.
    private let current = Lock<(any Span)?>(nil)

    init(of operation: NetworkOperation, _ given: (any Tracer)?, _ rules: SpanRules) {
        self.operation = operation
        self.rules = rules
        tracer = given ?? InstrumentationSystem.tracer
        instrument = given ?? InstrumentationSystem.instrument
        parent = ServiceContext.current ?? .topLevel
    }

    /// Begins the first span, puts its trace on the message and sees to it that redirects have spans of their own.
    ///
    /// - Returns: the context for what is below.
    func begin(_ operation: inout NetworkOperation) -> ServiceContext {
        let span = span(of: operation.transfer.head, resends: operation.attempt - 1)
        current.withLock { $0 = span }
        let fields = fields(of: span, to: operation.transfer.head)
        if !fields.isEmpty {
            operation.transfer.head.headerFields.replace(with: fields)
            operation.transfer.originScopedFields.formUnion(fields.map(\.name))
            // What baggage tells may be who asks.
            operation.note(tracing: Set(fields.map(\.name).filter { $0.canonicalName != FieldInjector.baggage }))
        }
        operation.onRedirect { self.redirect($0, to: $1) }
        return span.context
    }

    /// Ends the last span.
    func end(_ ending: Ending) {
        guard let span = exchange(for: nil) else { return }
        span.updateAttributes { attributes in
            if let peer = ending.metrics?.peer {
                attributes["network.peer.address"] = peer.address
                attributes["network.peer.port"] = peer.port
            }
            if let version = ending.metrics?.protocolVersion { attributes[AttributeName.protocolVersion] = version }
            if let metrics = ending.metrics, metrics.resends > 0 {
                attributes["http.request.resend_count"] = operation.attempt - 1 + metrics.redirects + metrics.resends
            }
        }
        if span.isRecording {
            for event in ending.metrics?.events(until: DefaultTracerClock.now) ?? [] { span.addEvent(event) }
        }
        span.end(status: ending.status, ending.errorType, ending.failure?.message)
    }

    /// Ends the span of the message that a redirect answered, and begins that of the one that follows.
    ///
    /// - Returns: the message with its trace; nil where it has none.
    private func redirect(_ proposal: RedirectPolicy.Proposal, to next: HTTPRequest) -> HTTPRequest? {
        let span = span(of: next, resends: operation.attempt + proposal.followed)
        guard let answered = exchange(for: span) else {
            // Whoever asked was told of an end meanwhile.
            span.end()
            return nil
        }
        answered.end(status: proposal.response.status.code, nil, nil)
        let fields = fields(of: span, to: next)
        if fields.isEmpty { return nil }
        var next = next
        next.headerFields.replace(with: fields)
        return next
    }

    /// - Returns: the span that was there; nil after the end, which stays.
    private func exchange(for next: (any Span)?) -> (any Span)? {
        current.withLock { current in
            defer { if current != nil { current = next } }
            return current
        }
    }

    /// - Parameter resends: how many messages of the operation went out before this one.
    private func span(of head: HTTPRequest, resends: Int) -> any Span {
        let method = head.method.attribute
        var name = method == AttributeName.other ? "HTTP" : method
        let template = operation.urlTemplate
        if let template { name += " \(template)" }
        let span = tracer.startSpan(name, context: parent, ofKind: .client)
        let origin = Origin(of: head)
        span.updateAttributes { attributes in
            attributes[AttributeName.method] = method
            if method == AttributeName.other { attributes["http.request.method_original"] = head.method.rawValue }
            attributes[AttributeName.address] = origin.address
            attributes[AttributeName.port] = origin.port
            attributes["url.full"] = operation.shown(head.urlText)
            if let template { attributes[AttributeName.template] = template }
            if resends > 0 { attributes["http.request.resend_count"] = resends }
            attributes["beagle.request.type"] = operation.kind.name
            if operation.kind.isGraphQL { attributes["graphql.operation.type"] = operation.kind.name }
        }
        return span
    }

    /// The fields that tell the trace, where the message goes to who may know it.
    private func fields(of span: any Span, to head: HTTPRequest) -> HTTPFields {
        guard (rules.origins ?? operation.declaredOrigins).contains(Origin(of: head)) else { return [:] }
        var fields = HTTPFields()
        instrument.inject(span.context, into: &fields, using: FieldInjector(sendsBaggage: rules.sendsBaggage))
        return fields
    }
}

/// Takes what tells a trace for header fields.
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

extension NetworkOperation.Kind {
    fileprivate var isGraphQL: Bool { self == .query || self == .mutation || self == .subscription }
}

extension Span {
    /// Ends the span with the answer's status, and what went wrong.
    fileprivate func end(status: Int?, _ errorType: String?, _ message: String?) {
        updateAttributes { attributes in
            if let status { attributes[AttributeName.status] = status }
            if let errorType { attributes[AttributeName.errorType] = errorType }
        }
        if errorType != nil { setStatus(SpanStatus(code: .error, message: message)) }
        end()
    }
}
