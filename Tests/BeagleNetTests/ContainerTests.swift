import BeagleNet
import BeagleNetTesting
import Testing
import TestClients

@Suite(.beagle(), .timeLimit(.minutes(5))) struct ContainerTests {
    /// The set-up code of Beagle's documentation, in 200 concurrent tests.
    @Test(arguments: 0..<200) func aClientSetInOneTestIsNotSeenByAnother(number: Int) async throws {
        let dependencies = BeagleDependencies()
        let client = StubClient { _ in NetworkResponse(text: "\(number)") }
        dependencies.networkClient = client
        Beagle.dependencies = dependencies
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<5 {
                group.addTask { try await Beagle.dependencies.networkClient.image("http://host/").text() }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(texts == Array(repeating: "\(number)", count: 5))
    }

    @Test func appClientIsTheDefaultClientAndMadeOnce() throws {
        let dependencies = BeagleDependencies()
        let client = try #require(dependencies.networkClient as? NetworkClientDefault)
        #expect(dependencies.networkClient as? NetworkClientDefault === client)
        #expect(client.container === dependencies)
        #expect(dependencies.scoped { _ in }.networkClient as? NetworkClientDefault !== client)
    }

    @Test func urlBuilderFollowsTheEnvironmentUntilReplaced() {
        let dependencies = BeagleDependencies()
        #expect(dependencies.urlBuilder.build(path: "/a")?.host() == nil)
        for host in ["one", "two"] {
            dependencies.environment = BeagleEnvironment(name: host, baseURL: URL(string: "http://\(host)"))
            #expect(dependencies.urlBuilder.build(path: "/a")?.absoluteString == "http://\(host)/a")
        }
        dependencies.urlBuilder = UrlBuilder(baseUrl: URL(string: "http://set"))
        #expect(dependencies.urlBuilder.build(path: "/a")?.absoluteString == "http://set/a")
    }

    @Test func clientAndLoggerAreInjectedByTypeOrByName() throws {
        struct Screen {
            @Injected(\.networkClient) var named
            @Injected() var client: any NetworkClient
            @Injected() var logger: any BeagleLogger
        }
        Beagle.dependencies.networkClient = StubClient { _ in NetworkResponse() }
        let screen = Screen()
        #expect(screen.named is StubClient)
        #expect(screen.client is StubClient)
        #expect(screen.logger is OffLogger)
    }
}
