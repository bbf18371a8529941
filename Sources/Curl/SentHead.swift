import BeagleNetHTTP

/// Collects the head of a message as libcurl hands it to the network.
///
/// Of a head longer than libcurl sends at once (16 KiB over TLS), 7.88 calls the rest a body.
final class SentHead {
    private var bytes = Data()
    private(set) var isWhole = false

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
        let known = max(0, bytes.count - 3)
        bytes.append(contentsOf: sent)
        guard let end = bytes.withUnsafeBytes({ Self.end(of: $0, from: known) }) else { return }
        bytes = bytes[..<end]
        isWhole = true
    }

    /// Behind the first empty line. Not `firstRange(of:)`, which costs a hundred times as much.
    private static func end(of bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var place = start
        while place + 4 <= bytes.count {
            if bytes[place] == 13, bytes[place + 1] == 10, bytes[place + 2] == 13, bytes[place + 3] == 10 {
                return place + 4
            }
            place += 1
        }
        return nil
    }
}
