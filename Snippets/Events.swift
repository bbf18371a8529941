// Follows the events of a server.
import BeagleNet

func follow(_ client: any NetworkClient) async throws {
    // snippet.events
    for try await event in try client.events("/news") {
        print(event.type, event.data)
    }
    // snippet.end
}
