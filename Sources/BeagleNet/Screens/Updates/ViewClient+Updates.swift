public import BeagleNetHTTP
import BeagleNetRequestBuilder

extension ViewClient {
    /// The format in which a server sends updates.
    public enum UpdateFormat: Sendable {
        /// Server-sent events (`text/event-stream`), which `ScreenUpdate.init(_:)` reads. A connection that is lost is
        /// opened again, as `NetworkClient.events` does.
        case events
        /// The parts of one response (`multipart/mixed`). Each part has a `Content-Type`, with which
        /// `ScreenUpdate.init(parsing:type:)` reads it. A part may have as many bytes as a screen. The updates end with
        /// the last boundary.
        case parts
    }

    /// Applies the updates that a server sends to a screen.
    ///
    /// An update that can't be applied fails with an error of kind `.decoding`; fetch the screen again, and follow the
    /// updates from there.
    ///
    /// - Parameters:
    ///   - target: A path or URL that sends updates, requested with GET.
    ///   - screen: The present screen.
    ///   - format: The format of the updates; server-sent events by default, because only those continue after the
    ///     connection is lost.
    ///   - headers: The header fields of each request.
    /// - Returns: The results, each applied to the screen of the one before. The connection ends when iteration stops.
    /// - Throws: `NetworkError` if `target` isn't a URL.
    public func updates(
        from target: some Request.Target,
        to screen: JSONValue,
        as format: UpdateFormat = .events,
        headers: [String: String] = [:]
    ) throws(NetworkError) -> some AsyncSequence<ScreenUpdate.Result, any Error> & Sendable {
        let client = currentClient
        switch format {
        case .events: return ScreenUpdates(source: .events(try client.events(target, headers: headers)), screen: screen)
        case .parts:
            let accepting = headers.merging(["Accept": "multipart/mixed"]) { own, _ in own }
            var request = try client.makeRequest(target, .rawRequest(Request.RequestData()), [], accepting, nil)
            request.options = client.options.forEventStream
            return ScreenUpdates(source: .parts(client, request), screen: screen)
        }
    }
}

/// A screen after each update. The server is slowed down if the app reads slowly.
private struct ScreenUpdates: AsyncSequence, Sendable {
    enum Source: Sendable {
        case events(EventSource)
        case parts(any NetworkClient, Request)
    }

    let source: Source
    let screen: JSONValue

    func makeAsyncIterator() -> Iterator {
        switch source {
        case .events(let events): Iterator(updates: .events(events.makeAsyncIterator()), screen: screen)
        case .parts(let client, let request):
            Iterator(updates: .parts(ScreenUpdateParts(client, request)), screen: screen)
        }
    }

    struct Iterator: AsyncIteratorProtocol {
        enum Updates {
            case events(EventSource.AsyncIterator)
            case parts(ScreenUpdateParts)
            case ended
        }

        var updates: Updates
        var screen: JSONValue

        mutating func next() async throws -> ScreenUpdate.Result? {
            switch updates {
            case .events(var events):
                // Nothing follows the end or an error. It also leaves a single owner, so that buffers aren't copied.
                updates = .ended
                guard let event = try await events.next() else { return nil }
                return try apply(ScreenUpdate(event), .events(events))
            case .parts(var parts):
                updates = .ended
                guard let update = try await parts.next() else { return nil }
                return try apply(update, .parts(parts))
            case .ended: return nil
            }
        }

        private mutating func apply(_ update: ScreenUpdate, _ rest: Updates) throws -> ScreenUpdate.Result {
            let result = try update.applied(to: screen)
            (updates, screen) = (rest, result.screen)
            return result
        }
    }
}
