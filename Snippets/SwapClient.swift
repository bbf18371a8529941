// A client of the app's own in place of ours: everything that asks the container has it from then on.
import BeagleNet

// snippet.custom
final class CountingClient: NetworkClient {
    private let client: any NetworkClient
    private let counter: any Counter

    init(_ client: any NetworkClient, _ counter: any Counter) {
        self.client = client
        self.counter = counter
    }

    func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
        counter.count(request.url)
        return client.executeRequest(request, completion: completion)
    }
}
// snippet.end

protocol Counter: Sendable {
    func count(_ url: URL)
}

struct PrintingCounter: Counter {
    func count(_ url: URL) { print("asks for \(url)") }
}

// snippet.swap
let dependencies = BeagleDependencies()
dependencies.networkClient = CountingClient(NetworkClientDefault(dependencies: dependencies), PrintingCounter())
Beagle.dependencies = dependencies
// snippet.end
