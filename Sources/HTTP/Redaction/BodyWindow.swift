/// The bytes of a body that are being scanned.
struct BodyWindow {
    /// Consecutive bytes of the body. Those before `settled` are kept for looking back.
    private(set) var bytes: [UInt8] = []
    /// The offset of the first byte in the body.
    private(set) var origin = 0
    /// The number of bytes that are final.
    private(set) var settled = 0
    /// The number of bytes that have been scanned.
    private(set) var seen = 0
    /// The number of bytes required for the next scan. A scan examines all bytes, so it waits until their number has
    /// doubled.
    private var wanted = 1

    var isReadyToScan: Bool { bytes.count - settled >= wanted }

    mutating func append(_ data: some Sequence<UInt8>) {
        bytes += data
    }

    /// Returns the output of the bytes that are now final, and drops them if possible.
    mutating func settle(_ now: Settled) -> [UInt8] {
        let output = now.bytes ?? bytes.applying(now.edits, in: settled..<now.place)
        settled = now.place
        seen = bytes.count
        wanted = max(1, 2 * (bytes.count - settled))
        let old = settled - TextScan.context
        if old > TextScan.window || old > bytes.count / 2 {
            // A new array releases the memory, because many bodies may be received at the same time.
            bytes = Array(bytes[old...])
            origin += old
            settled -= old
            seen -= old
        }
        return output
    }
}

extension BodyWindow {
    /// The same window, of which nothing has been scanned yet.
    var unseen: BodyWindow {
        var window = self
        window.seen = 0
        return window
    }
}
