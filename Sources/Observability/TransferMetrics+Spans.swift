import BeagleNetHTTP
import Tracing

extension TransferMetrics {
    /// `1.1`, `2` or `3`; nil where no protocol was spoken.
    var protocolVersion: String? {
        guard let slash = protocolName.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        return String(protocolName[slash...].dropFirst())
    }

    /// The server's address and port, where there was a connection.
    var peer: (address: String, port: Int)? {
        guard let colon = remoteAddress.utf8.lastIndex(of: UInt8(ascii: ":")),
            let port = Int(remoteAddress[colon...].dropFirst())
        else { return nil }
        let address = remoteAddress[..<colon]
        return (String(address.hasPrefix("[") ? address.dropFirst().dropLast() : address), port)
    }

    /// When the phases of the last message ended, each as an event of its span; of those that took place.
    ///
    /// The marks begin when the message is taken up. How long that took is known of the first one; later ones, and one
    /// that was sent again, are taken for going out at once.
    ///
    /// - Parameter start: when the message was handed over.
    func events(from start: DefaultTracerClock.Timestamp) -> [SpanEvent] {
        let begun = start.nanosecondsSinceEpoch &+ (redirects == 0 ? queued : .zero).distance
        let marks = [
            ("http.dns", nameLookup), ("http.connect", connect),
            ("http.tls", tlsHandshake), ("http.request.sent", requestEnd), ("http.response.first_byte", firstByte),
        ]
        return marks.filter { $0.1 > .zero }.map { name, mark in
            SpanEvent(name: name, at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: begun &+ mark.distance))
        }
    }

    /// Whether the body was sent whole.
    var isSent: Bool { requestEnd > .zero }
}

extension Duration {
    var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
    fileprivate var distance: UInt64 { UInt64(max(0, nanoseconds)) }
}
