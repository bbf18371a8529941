// Spans, measurements and log lines with OpenTelemetry's names.
import BeagleNet
import BeagleNetObservability

func observe(_ dependencies: BeagleDependencies) {
    // snippet.observe
    // Bootstrap LoggingSystem, MetricsSystem and InstrumentationSystem first.
    dependencies.environment = BeagleEnvironment(name: "production", baseURL: URL(string: "https://api.example.com"))
    dependencies.interceptors.add(TracingInterceptor())
    dependencies.interceptors.add(MetricsInterceptor())
    dependencies.logger = SwiftLogLogger.current
    dependencies.callerContexts = [.trace, .logger]
    // snippet.end
}

func trace(_ views: ViewClient, _ loader: ImageLoader) async throws -> JSONValue {
    // snippet.screen
    let home = views.openTraced("home", images: loader)
    let screen = try await home.fetch(ScreenRequest("/home"), as: JSONValue.self).screen
    try await home.timing.recordSpans()
    // snippet.end
    return screen
}

func user(_ id: String, from client: any NetworkClient) async throws -> NetworkResponse? {
    // snippet.template
    let url = URL(string: "https://api.example.com/users/\(id)")!
    var operation = NetworkOperation(Request(url: url, type: .fetchComponent))
    operation.urlTemplate = "/users/{id}"
    let result = try await client.run(operation) { _ in }
    // snippet.end
    return result.response
}
