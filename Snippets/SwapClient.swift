// A client that wraps the default client. All code that gets its client from the container uses it, in each scope.
import BeagleNet

// snippet.custom
final class CountingClient: NetworkClientWrapper {
    let wrapped: any NetworkClient
    private let counter: any Counter

    init(_ client: any NetworkClient, _ counter: any Counter) {
        wrapped = client
        self.counter = counter
    }

    func prepare(_ operation: inout NetworkOperation) {
        counter.count(operation.request.url)
    }
}
// snippet.end

protocol Counter: Sendable {
    func count(_ url: URL)
}

struct PrintingCounter: Counter {
    func count(_ url: URL) { print("requesting \(url)") }
}

// snippet.swap
let dependencies = BeagleDependencies()
dependencies.register(\.networkClient) { container in
    CountingClient(NetworkClientDefault(dependencies: container), PrintingCounter())
}
Beagle.dependencies = dependencies
// snippet.end

// snippet.scope
let url = URL(string: "https://staging.example.com")
let staging = dependencies.scoped { $0.environment = BeagleEnvironment(name: "staging", baseURL: url) }
let home = try await staging.networkClient.fetch("/home", as: JSONValue.self)  // counted, and sent to staging
// snippet.end
print(home)

// snippet.injected
final class HomeModel: Sendable {
    private let client = Injected(\.networkClient)

    func load() async throws -> JSONValue { try await client().fetch("/home") }
}
// snippet.end
print(try await HomeModel().load())
