import BeagleNet
import BeagleNetTesting
import Foundation
import Testing

@Suite(.beagle())
struct ContainerTests {
    private let url = URL(string: "http://127.0.0.1/home")!

    @Test func assignedClientReceivesRequests() async throws {
        let dependencies = BeagleDependencies()
        let client = CustomNetworkClient()
        dependencies.networkClient = client
        Beagle.dependencies = dependencies

        #expect(Beagle.dependencies.networkClient as? CustomNetworkClient === client)
        let additionalData = HttpAdditionalData(headers: ["a": "b"])
        let request = Request(url: url, type: .fetchComponent, additionalData: additionalData)
        let response = try await Beagle.dependencies.networkClient.executeRequest(request)
        #expect(try response.text() == #"component at /home with ["a": "b"]"#)
    }

    private static let customClientReceivesTheRequestTypeArguments: [(Request.RequestType, String)] = [
        (.fetchImage, "image at /home with [:]"),
        (.submitForm(.init(method: .put, values: ["a": "1"])), "PUT form of 1 at /home with [:]"),
        (.rawRequest(.init()), "raw GET at /home with [:]"),
    ]

    @Test(arguments: Self.customClientReceivesTheRequestTypeArguments)
    func customClientReceivesTheRequestType(type: Request.RequestType, answer: String) async throws {
        let response = try await CustomNetworkClient().executeRequest(Request(url: url, type: type))
        #expect(try response.text() == answer)
    }

    @Test func clientCanBeReplacedAndRestored() async throws {
        let server = try LoopbackServer(.response(200, [:], "from the server"))
        let request = Request(url: try #require(URL(string: server.url)), type: .fetchComponent)
        let dependencies = BeagleDependencies()
        dependencies.logger = MemoryLogger()
        let ours = dependencies.networkClient
        #expect(ours is BeagleNet.NetworkClientDefault)
        func answer() async throws -> String {
            try await dependencies.networkClient.executeRequest(request).text()
        }

        #expect(try await answer() == "from the server")
        dependencies.networkClient = CustomNetworkClient()
        #expect(try await answer().hasPrefix("component at"))
        dependencies.networkClient = NetworkClientDefault(dependencies: dependencies)
        #expect(try await answer() == "from the server")
        dependencies.networkClient = ours
        #expect(try await answer() == "from the server")
        #expect(server.requests.count == 3)
    }
}
