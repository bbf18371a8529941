extension LogEntry.Timings {
    /// A phase of an exchange.
    package struct Phase: Sendable, Hashable {
        /// The name, such as `dns`.
        package let name: String
        /// The duration; `nil` if the phase didn't take place.
        package let duration: Duration?
    }

    /// The phases in order, without overlaps: `connect` doesn't include `tls`.
    ///
    /// Their sum is `total`.
    package var phases: [Phase] {
        let connecting = connect.map { max($0 - (tls ?? .zero), .zero) }
        return [
            Phase(name: "blocked", duration: blocked), Phase(name: "dns", duration: dns),
            Phase(name: "connect", duration: connecting), Phase(name: "tls", duration: tls),
            Phase(name: "send", duration: send), Phase(name: "wait", duration: wait),
            Phase(name: "receive", duration: receive),
        ]
    }
}
