import BeagleNetHTTP

/// Collects the head of a message as libcurl hands it to the network.
///
/// Of a head longer than libcurl sends at once (16 KiB over TLS), 7.88 calls the rest a body.
final class SentHead {
    private static let end = Data([13, 10, 13, 10])

    private var bytes = Data()
    private var isWhole = false

    /// The head, or as much of it as was sent; nil where nothing was.
    var head: WireHead? { bytes.isEmpty ? nil : WireHead(bytes) }

    /// The message is about to go out: what came so far was another one, or for the proxy.
    func begin() {
        bytes = Data()
        isWhole = false
    }

    /// Takes the next bytes that were sent.
    func take(_ sent: UnsafeRawBufferPointer) {
        guard !isWhole else { return }
        let known = max(0, bytes.count - Self.end.count + 1)
        bytes.append(contentsOf: sent)
        guard let end = bytes[known...].firstRange(of: Self.end) else { return }
        bytes = bytes[..<end.upperBound]
        isWhole = true
    }
}
