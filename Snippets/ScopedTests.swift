// Tests of code that gets its client from the container.
// snippet.tests
import BeagleNet
import BeagleNetTesting
import Testing

@Suite(.beagle())
struct GreetingTests {
    @Test func greetingShowsTheTitleOfTheScreen() async throws {
        Beagle.dependencies.networkClient = StubClient { _ in
            try NetworkResponse(json: ["title": "Hello"])
        }
        #expect(try await greeting() == "Hello")
    }
}
// snippet.end

func greeting() async throws -> String {
    struct Screen: Decodable {
        let title: String
    }
    return try await Beagle.dependencies.networkClient.fetch("https://example.com/home", as: Screen.self).title
}
