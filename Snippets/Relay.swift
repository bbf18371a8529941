// The network layer for Relay.swift, and publishers for requests.
import BeagleNetCombine

func relay(_ dependencies: BeagleDependencies) -> any Network {
    // snippet.network
    var network = RelayNetwork(client: dependencies.networkClient, at: GraphQLEndpoint("https://example.org/graphql"))
    network.cache = RelayResponseCache(size: 250, ttl: .seconds(60))
    // snippet.end
    return network
}

func publish(_ client: any NetworkClient, _ url: URL) -> AnyCancellable {
    // snippet.publisher
    let request = Request(url: url, type: .fetchComponent)
    let subscription = client.publisher(for: request)
        .map(\.data.count)
        .replaceError(with: 0)
        .sink { print($0, "bytes") }
    // snippet.end
    return subscription
}
