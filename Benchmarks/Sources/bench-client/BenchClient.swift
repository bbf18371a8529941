import BeagleNet
import BeagleNetCurl
import BeagleNetGraphQL
import BeagleNetReplay
import Dispatch
import Load
import Synchronization

#if canImport(FoundationEssentials)
    // As an app that wants to start soon: all of Foundation brings ICU.
    import FoundationEssentials
#else
    import Foundation
#endif

/// The whole client, found through the container as an app finds it: builder, environment, logger (off), transport.
/// Variant `raw` makes raw requests, `recorded` makes them with a log, `callback` makes them through completions, `executor` in
/// tasks on the transport's thread, and `post` and `graphql` ask for the same with a raw request and with an operation, `post-coded` with a raw request whose body a
/// `JSONEncoder` writes and whose answer a `JSONDecoder` reads, and `screen` asks for components, each for somebody else: those of one would share one request. `main` is not `async`, as in `BenchTransport`.
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

    /// A query, each with another variable so that none shares the request of another.
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
        dependencies.logger = .off
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
        if arguments.variant == "callback" {
            try await Load.measure("client-callback", arguments) { completion in
                let request = Request(url: url, type: .rawRequest(Request.RequestData(headers: accept)))
                Beagle.dependencies.networkClient.executeRequest(request) { result in
                    completion(result.map(\.data.count).mapError { $0 })
                }
            }
            return
        }
        if arguments.variant == "executor" {
            try await withTaskExecutorPreference(transport) {
                try await Load.measure("client-executor", arguments) {
                    let request = Request(url: url, type: .rawRequest(Request.RequestData(headers: accept)))
                    return try await Beagle.dependencies.networkClient.executeRequest(request).data.count
                }
            }
            return
        }
        let isScreen = arguments.variant == "screen"
        let isStreamed = arguments.shape == .big
        try await Load.measure(isScreen ? "client-screen" : "client", arguments) {
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
