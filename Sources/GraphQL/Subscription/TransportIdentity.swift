import BeagleNetHTTP

/// What tells transports apart, without keeping them. One that nothing tells apart is another each time.
struct TransportIdentity: Hashable, Sendable {
    private final class Own: Sendable {}

    /// Of objects that are gone others may have the same.
    private let objects: [ObjectIdentifier]
    /// Keeps that of a transport that has no object its own.
    private let own: Own?

    init(_ transport: any HTTPTransport) {
        let parts = transport.identity
        let own = parts.isEmpty ? Own() : nil
        self.own = own
        objects = own.map { [ObjectIdentifier($0)] } ?? parts.map { ObjectIdentifier($0) }
    }

    static func == (one: TransportIdentity, other: TransportIdentity) -> Bool { one.objects == other.objects }

    func hash(into hasher: inout Hasher) { hasher.combine(objects) }
}
