import BeagleNet
import BeagleNetObservability
import BeagleNetTesting
import InMemoryTracing
import Tracing

/// A tracer that records its spans and injects W3C trace fields.
struct W3CTracer: Tracer {
    let memory = InMemoryTracer(recordInjections: false)

    var spans: [FinishedInMemorySpan] { memory.finishedSpans }

    func startSpan<Instant: TracerInstant>(
        _ operationName: String,
        context: @autoclosure () -> ServiceContext,
        ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant,
        function: String,
        file fileID: String,
        line: UInt
    ) -> InMemorySpan {
        memory.startSpan(
            operationName,
            context: context(),
            ofKind: kind,
            at: instant(),
            function: function,
            file: fileID,
            line: line
        )
    }

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext,
        into carrier: inout Carrier,
        using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let span = context.inMemorySpanContext else { return }
        injector.inject("00-\(span.traceID)-\(span.spanID)-01", forKey: "traceparent", into: &carrier)
        injector.inject("vendor=1", forKey: "tracestate", into: &carrier)
        injector.inject("1", forKey: "b3", into: &carrier)
        injector.inject("user=ada", forKey: "baggage", into: &carrier)
    }

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier,
        into context: inout ServiceContext,
        using extractor: Extract
    ) where Extract.Carrier == Carrier {}

    func forceFlush() {}
}

extension FinishedInMemorySpan {
    /// The text of an attribute, or `nil` if the span hasn't it.
    subscript(name: String) -> String? {
        switch attributes.get(name) {
        case .string(let text): text
        case .int64(let number): String(number)
        case nil: nil
        case let other: "\(String(describing: other))"
        }
    }

    /// The `traceparent` field of this span.
    var traceparent: String { "00-\(traceID)-\(spanID)-01" }

    var isError: Bool { status?.code == .error }
}

/// Starts a server and makes it the app's own backend.
func serve(
    _ answer: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
) throws -> LoopbackServer {
    let server = try LoopbackServer(answer: answer)
    Beagle.dependencies.environment = BeagleEnvironment(name: "loopback", baseURL: URL(string: server.url))
    return server
}

/// The client of the test's dependencies.
func client() throws -> NetworkClientDefault {
    guard let client = Beagle.dependencies.networkClient as? NetworkClientDefault else {
        throw NetworkError(.notConfigured, during: .build, "the test has another client")
    }
    return client
}

func raw(
    _ url: String,
    _ method: String = "GET",
    headers: [String: String] = [:],
    redirects: TransferOptions.RedirectPolicy = .follow
) throws -> Request {
    guard let url = URL(string: url) else { throw NetworkError(.badURL, during: .build, "\(url) is not a valid URL") }
    var options = TransferOptions()
    options.redirects = redirects
    return Request(
        url: url,
        type: .rawRequest(Request.RequestData(method: method, headers: headers)),
        options: options
    )
}

func image(_ path: String) throws -> NetworkOperation {
    NetworkOperation(Request(url: try raw(path).url, type: .fetchImage))
}
