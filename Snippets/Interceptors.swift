// Interceptors for credentials, retries, encryption and feature flags; observers; watching operations; scopes.
import BeagleNet

protocol Session: Sendable {
    func token() async throws -> String?
    func refresh() async throws -> String?
}

protocol Cipher: Sendable {
    func seal(_ data: Data) throws -> Data
    func open(_ data: Data) throws -> Data
}

func configure(_ dependencies: BeagleDependencies, _ session: any Session) {
    // snippet.auth
    dependencies.environment = BeagleEnvironment(name: "production", baseURL: URL(string: "https://api.example.com"))
    let rules = AuthInterceptor<String>.Rules(
        load: { try await session.token() },
        renew: { _ in try await session.refresh() },
        attach: { token, head in head.headerFields[.authorization] = "Bearer \(token)" }
    )
    dependencies.interceptors.add(AuthInterceptor(rules))
    dependencies.interceptors.replace(with: RetryInterceptor(backoff: Backoff(base: .seconds(1), limit: 5)))
    // snippet.end
}

func encrypt(_ dependencies: BeagleDependencies, _ cipher: any Cipher) {
    // snippet.cryptography
    dependencies.interceptors.add(
        TransformInterceptor { message in
            if let body = message.body { message.body = HTTPBody(try cipher.seal(try await body.collect())) }
        } response: { response in
            response.data = try cipher.open(response.data)
        }
    )
    // snippet.end
}

protocol Analytics: Sendable {
    func record(_ path: String, _ status: Int?)
}

// snippet.observer
struct AnalyticsObserver: RequestObserver {
    let analytics: any Analytics

    func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? {
        operation.transfer.head.headerFields[.acceptLanguage] = "pt-BR"
        return Observation(analytics: analytics)
    }

    final class Observation: RequestObservation {
        let analytics: any Analytics

        init(analytics: any Analytics) {
            self.analytics = analytics
        }

        func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) {
            let path = operation.request.url.path
            switch outcome {
            case .success(let result): analytics.record(path, result.status?.code)
            case .failure(let error): analytics.record(path, error.response?.status.code)
            }
        }
    }
}
// snippet.end

protocol FeatureFlags: Sendable {
    func current() async throws -> String
}

// snippet.interceptor
struct FlagsInterceptor: Interceptor {
    let flags: any FeatureFlags

    func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        let current = try await NetworkError.catching { try await flags.current() }
        var operation = operation
        if let name = HTTPField.Name("X-Flags") { operation.transfer.head.headerFields[name] = current }
        return try await next(operation, emit)
    }
}
// snippet.end

func watch(_ client: any NetworkClient, _ show: @escaping @Sendable (NetworkResponse, _ isStale: Bool) -> Void) {
    // snippet.watch
    let home = NetworkOperation(Request(url: URL(string: "https://api.example.com/home")!, type: .fetchComponent))
    let token = client.watch(home) { event in
        if case .result(let result) = event, let response = result.response { show(response, result.isStale) }
    }
    client.refetch()  // when the app comes to the foreground
    token?.cancel()  // when the screen closes
    // snippet.end
}

func scopes(_ dependencies: BeagleDependencies, _ word: String) async throws {
    // snippet.scope
    let screen = OperationScope()
    let search = dependencies.networkClient.scoped(in: OperationScope(.replace, in: screen))
    let found = try await search.fetch("/search", as: JSONValue.self, query: [URLQueryItem(name: "q", value: word)])
    screen.close()  // cancels all operations in it
    // snippet.end
    print(found)
}
