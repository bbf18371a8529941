// Receives events from a server.
import BeagleNet

func follow(_ client: any NetworkClient) async throws {
    // snippet.events
    for try await event in try client.events("/news") {
        print(event.type, event.data)
    }
    // snippet.end
}

func follow(_ client: any NetworkClient, behind lastEventID: String) async throws {
    // snippet.reconnect
    var news = try client.events("/news")
    news.lastEventID = lastEventID
    news.backoff.limit = 10
    news.onReconnect = { cause, delay in print("\(cause); reconnecting in \(delay)") }
    for try await event in news {
        print(event.id, event.data)
    }
    // snippet.end
}
