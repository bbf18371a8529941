public import BeagleNetHTTP

extension ViewClient {
    /// Applies the updates that a server sends as events to a screen.
    ///
    /// The connection is opened again if it is lost, as `NetworkClient.events` does. An update that can't be applied fails
    /// with an error of kind `.decoding`; fetch the screen again, and follow the updates from there.
    ///
    /// - Parameters:
    ///   - target: A path or URL that sends `text/event-stream`; `ScreenUpdate.init(_:)` reads its events.
    ///   - screen: The present screen.
    ///   - headers: The header fields of each request.
    /// - Returns: The results, each applied to the screen of the one before. The connection ends when iteration stops.
    /// - Throws: `NetworkError` if `target` isn't a URL.
    public func updates(
        from target: some RequestTarget,
        to screen: JSONValue,
        headers: [String: String] = [:]
    ) throws(NetworkError) -> some AsyncSequence<ScreenUpdate.Result, any Error> & Sendable {
        ScreenUpdates(events: try currentClient.events(target, headers: headers), screen: screen)
    }
}

/// A screen after each update. The server is slowed down if the app reads slowly.
private struct ScreenUpdates: AsyncSequence, Sendable {
    let events: EventSource
    let screen: JSONValue

    func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator(), screen: screen) }

    struct Iterator: AsyncIteratorProtocol {
        var events: EventSource.AsyncIterator
        var screen: JSONValue

        mutating func next() async throws -> ScreenUpdate.Result? {
            guard let event = try await events.next() else { return nil }
            let result = try ScreenUpdate(event).applied(to: screen)
            screen = result.screen
            return result
        }
    }
}
