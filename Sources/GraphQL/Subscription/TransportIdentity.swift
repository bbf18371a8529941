import BeagleNetHTTP

/// The identity of a transport, without retaining it. A transport that has none is different each time.
struct TransportIdentity: Hashable, Sendable {
    private final class Fallback: Sendable {}

    /// Identifiers of released objects may be reused.
    private let objects: [ObjectIdentifier]
    /// Retains the identifying object of a transport that has none of its fallback.
    private let fallback: Fallback?

    init(_ transport: any HTTPTransport) {
        let parts = transport.identity
        let fallback = parts.isEmpty ? Fallback() : nil
        self.fallback = fallback
        objects = fallback.map { [ObjectIdentifier($0)] } ?? parts.map { ObjectIdentifier($0) }
    }

    static func == (one: TransportIdentity, other: TransportIdentity) -> Bool { one.objects == other.objects }

    func hash(into hasher: inout Hasher) { hasher.combine(objects) }
}
