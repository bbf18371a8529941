import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The state learned about a server, shared by the copies of its endpoint.
final class EndpointState: Sendable {
    /// A transport that an address doesn't support. The address excludes the query.
    private struct Refusal: Hashable, Sendable {
        let transport: String
        let address: String

        init(_ transport: String, _ head: HTTPRequest) {
            self.transport = transport
            address = String(head.urlText.prefix { $0 != "?" })
        }
    }

    private let refusesHashes = Lock(false)
    /// The refusals, each with a function that returns its age.
    private let refused = Lock<[Refusal: @Sendable () -> Duration]>([:])
    /// The time for which a refusal counts. It is limited because a proxy or a starting server may have refused.
    private static let refusalLifetime = Duration.seconds(300)
    /// The event streams that operations share.
    let eventStreams = SharedEventStreams()
    /// The WebSockets that operations share.
    let sockets = SocketPool()

    /// Whether the server stated that it doesn't support persisted queries.
    var lacksPersistedQueries: Bool {
        get { refusesHashes.withLock { $0 } }
        set { refusesHashes.withLock { $0 = newValue } }
    }

    /// Returns whether the destination of a message doesn't support a transport.
    func refuses(_ transport: String, at head: HTTPRequest) -> Bool {
        let refused = refused.withLock { $0 }
        return !refused.isEmpty && refused[Refusal(transport, head)].map { $0() < Self.refusalLifetime } == true
    }

    /// Records that the destination of a message doesn't support a transport.
    ///
    /// - Parameter age: Returns the age of the refusal.
    func recordRefusal(of transport: String, at head: HTTPRequest, _ age: @escaping @Sendable () -> Duration) {
        let old = refused.withLock { $0 }.filter { $0.value() >= Self.refusalLifetime }.keys
        refused.withLock { refused in
            for refusal in old { refused[refusal] = nil }
            refused[Refusal(transport, head)] = age
        }
    }

    /// Forgets all refusals, so that every transport is tried again.
    func forgetRefusals() {
        refused.withLock { $0 = [:] }
    }
}
