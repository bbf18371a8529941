import BeagleNetHTTP

/// A recorder of the request head as libcurl sends it.
///
/// If the head is longer than libcurl sends in one piece (16 KiB over TLS), libcurl 7.88 reports the rest as a body.
final class SentHeadRecorder {
    private var bytes = Data()
    private(set) var isWhole = false

    /// The head, or the part of it that was sent; `nil` if nothing was sent.
    var head: TransferMetrics.WireHead? { bytes.isEmpty ? nil : TransferMetrics.WireHead(bytes) }

    /// Starts recording. Bytes recorded so far belonged to another attempt or to the proxy.
    func begin() {
        bytes = Data()
        isWhole = false
    }

    /// Records sent bytes.
    func take(_ sent: UnsafeRawBufferPointer) {
        guard !isWhole else { return }
        let known = max(0, bytes.count - 3)
        bytes.append(contentsOf: sent)
        guard let end = bytes.withUnsafeBytes({ Self.end(of: $0, from: known) }) else { return }
        bytes = bytes[..<end]
        isWhole = true
    }

    /// Returns the offset after the first empty line. Doesn't use `firstRange(of:)`, which costs a hundred times as
    /// much.
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
