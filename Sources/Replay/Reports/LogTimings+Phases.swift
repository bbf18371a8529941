extension LogTimings {
    /// A part of the time of an exchange.
    package struct Phase: Sendable, Hashable {
        /// Its name, as `dns`.
        package let name: String
        /// How long it took; nil where it did not take place.
        package let duration: Duration?
    }

    /// The phases in their order, none of which is a part of another: `connect` is without `tls`. They sum up to `total`.
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
