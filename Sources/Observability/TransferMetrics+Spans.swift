import BeagleNetHTTP
import Tracing

extension TransferMetrics {
    /// The version of HTTP, `1.1`, `2` or `3`, or `nil` if there was no connection.
    var protocolVersion: String? {
        guard let slash = protocolName.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        return String(protocolName[slash...].dropFirst())
    }

    /// The server's address and port, or `nil` if there was no connection.
    var peer: (address: String, port: Int)? {
        guard let colon = remoteAddress.utf8.lastIndex(of: UInt8(ascii: ":")),
            let port = Int(remoteAddress[colon...].dropFirst())
        else { return nil }
        let address = remoteAddress[..<colon]
        return (String(address.hasPrefix("[") ? address.dropFirst().dropLast() : address), port)
    }

    /// Returns a span event for the end of each phase of the last request that took place.
    ///
    /// The phases are measured from the moment when the transport starts the request. The delay before is known only
    /// for the first request. Later requests, and repeated ones, are assumed to start immediately.
    ///
    /// - Parameter start: The time at which the request was passed to the transport.
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

    /// Whether the body was sent completely.
    var isSent: Bool { requestEnd > .zero }
}

extension Duration {
    var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
    fileprivate var distance: UInt64 { UInt64(max(0, nanoseconds)) }
}
