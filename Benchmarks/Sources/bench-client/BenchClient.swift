import BeagleNet
import BeagleNetCurl
import BeagleNetGraphQL
import BeagleNetReplay
import BenchApp
import Dispatch
import Load
import Synchronization

#if canImport(FoundationEssentials)
    // Like an app that starts fast: the whole Foundation loads ICU.
    import FoundationEssentials
#else
    import Foundation
#endif

/// The whole client, found through the container as an app finds it.
///
/// | variant | configuration and requests |
/// |---|---|
/// | `app` | as a new app has it: the default logger, an `AuthInterceptor` with a valid token, a header of the app's own; tasks |
/// | `app-callback`, `app-screen`, `app-debug` | the same with completions, with components, and with a log of each request |
/// | `raw`, `executor`, `callback` | no log and no interceptor of the app's; tasks, tasks on the transport's thread, completions |
/// | `screen` | components, each in its own partition: those of one partition would share a request |
/// | `recorded` | with a `RequestLog` |
/// | `post`, `post-coded` | a POST, its body as text or by `JSONEncoder` and `JSONDecoder` |
/// | `graphql` | the same POST as a typed operation |
///
/// `main` isn't `async`, as in `BenchTransport`.
@main
struct BenchClient {
    static func main() throws {
        let arguments = Arguments()
        guard let url = URL(string: arguments.url) else { throw BadURL() }
        let isOver = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                try await measure(arguments, url)
            } catch {
                printError("\(error)")
            }
            isOver.signal()
        }
        isOver.wait()
    }

    private static func record(_ arguments: Arguments, _ url: URL, _ dependencies: BeagleDependencies) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "bench-\(UUID().uuidString).bglog").path
        let log = try RequestLog(directory: directory)
        dependencies.requestLog = log
        try await Load.measure("client-recorded", arguments) {
            let request = Request(url: url, type: .rawRequest(.init(headers: ["accept": "application/json"])))
            return try await Beagle.dependencies.networkClient.executeRequest(request).data.count
        }
        await log.close()
        try FileManager.default.removeItem(atPath: directory)
    }

    /// A query with a different variable each time, so that requests aren't shared.
    private static func query(_ arguments: Arguments, _ url: URL) async throws {
        let client = Beagle.dependencies.networkClient
        let url = url.deletingLastPathComponent().appending(path: "graphql")
        let endpoint = GraphQLEndpoint(url)
        let text = "query Post($id: ID!) { post(id: $id) { id title body } }"
        if arguments.variant == "graphql" {
            return try await Load.measure("client-graphql", arguments) {
                let operation = GraphQLOperation<IDInput, Post>(input: IDInput(id: number()), operationString: text)
                return try await client.perform(operation, at: endpoint).body.utf8.count
            }
        }
        let accept = ["Accept": "application/graphql-response+json, application/json;q=0.9"]
        let isCoded = arguments.variant == "post-coded"
        try await Load.measure("client-\(arguments.variant)", arguments) {
            let body =
                isCoded
                ? try JSONEncoder().encode(Message(query: text, operationName: "Post", variables: ["id": number()]))
                : Data(#"{"query":"\#(text)","operationName":"Post","variables":{"id":"\#(number())"}}"#.utf8)
            let data = Request.RequestData(
                method: "POST",
                headers: accept,
                body: .data(body, contentType: "application/json")
            )
            let answer = try await client.executeRequest(Request(url: url, type: .rawRequest(data))).data
            guard isCoded else { return answer.count }
            return try JSONDecoder().decode(Answer.self, from: answer).data.post.body.utf8.count
        }
    }

    private static func number() -> String {
        "\(partitions.wrappingAdd(1, ordering: .relaxed).newValue)"
    }

    private static let partitions = Atomic(0)

    private static func measure(_ arguments: Arguments, _ url: URL) async throws {
        var options = TransferOptions(version: arguments.isHTTP2 ? .automatic : .http1)
        if let file = arguments.authorities { options.trust = .file(path: file) }

        let dependencies = BeagleDependencies()
        let isApp = arguments.variant.hasPrefix("app")
        if isApp {
            dependencies.configure(likeAnAppAt: url, logsAll: arguments.variant == "app-debug")
        } else {
            dependencies.logger = .off
        }
        let transport = CurlTransport()
        dependencies.networkClient = NetworkClientDefault(
            dependencies: dependencies,
            transport: transport,
            options: options
        )
        Beagle.dependencies = dependencies
        if arguments.variant == "recorded" { return try await record(arguments, url, dependencies) }

        if ["post", "post-coded", "graphql"].contains(arguments.variant) { return try await query(arguments, url) }

        let accept = ["accept": "application/json"]
        let name = arguments.variant == "raw" ? "client" : "client-\(arguments.variant)"
        if ["callback", "app-callback"].contains(arguments.variant) {
            try await Load.measure(name, arguments) { completion in
                let request = Request(url: url, type: .rawRequest(Request.RequestData(headers: accept)))
                Beagle.dependencies.networkClient.executeRequest(request) { result in
                    completion(result.map(\.data.count).mapError { $0 })
                }
            }
            return
        }
        if arguments.variant == "executor" {
            try await withTaskExecutorPreference(transport) {
                try await Load.measure(name, arguments) {
                    let request = Request(url: url, type: .rawRequest(Request.RequestData(headers: accept)))
                    return try await Beagle.dependencies.networkClient.executeRequest(request).data.count
                }
            }
            return
        }
        let isScreen = ["screen", "app-screen"].contains(arguments.variant)
        let isStreamed = arguments.shape == .big
        try await Load.measure(name, arguments) {
            let client = Beagle.dependencies.networkClient
            let request =
                isScreen
                ? Request(url: url, type: .fetchComponent, additionalData: HttpAdditionalData(headers: accept))
                : Request(url: url, type: .rawRequest(Request.RequestData(headers: accept)))
            if isScreen {
                var operation = NetworkOperation(request)
                operation.partition = "\(partitions.wrappingAdd(1, ordering: .relaxed).newValue)"
                return try await client.run(operation).response?.data.count ?? 0
            }
            guard isStreamed else { return try await client.executeRequest(request).data.count }
            var count = 0
            for try await chunk in try await client.stream(request).body { count += chunk.count }
            return count
        }
    }
}

private struct Post: Decodable {
    let id: String
    let title: String
    let body: String
}

private struct Message: Encodable {
    let query: String
    let operationName: String
    let variables: [String: String]
}

private struct Answer: Decodable {
    struct Root: Decodable { let post: Post }
    let data: Root
}

private struct BadURL: Error {}
