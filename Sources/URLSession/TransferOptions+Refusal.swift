import BeagleNet

extension TransferOptions {
    /// The error for the first option that `URLSession` doesn't support; `nil` if it supports all.
    var unsupportedOptionError: NetworkError? {
        if timeouts.resolve != nil { return .unsupportedOption("timeouts.resolve") }
        if timeouts.tls != nil { return .unsupportedOption("timeouts.tls") }
        if version != .automatic { return .unsupportedOption("version") }
        guard let extras else { return nil }
        let standard = TransferOptions()
        let isRefused: [(name: String, isSet: Bool)] = [
            ("trust", extras.trust != standard.trust),
            ("identity", extras.identity != nil),
            ("pins", !extras.pins.isEmpty),
            ("minimumTLS", extras.minimumTLS != standard.minimumTLS),
            ("ciphers", extras.ciphers != standard.ciphers),
            ("usesEarlyData", extras.usesEarlyData),
            ("proxy", extras.proxy != standard.proxy),
            ("unixSocket", extras.unixSocket != nil),
            ("overrides", !extras.overrides.isEmpty),
            ("ipVersion", extras.ipVersion != standard.ipVersion),
            ("local", extras.local != standard.local),
            ("codings", extras.codings != nil),
            ("addressGuard", extras.addressGuard != nil),
            ("authentication", extras.authentication != nil),
            ("bandwidth", extras.bandwidth != standard.bandwidth),
            ("minimumSpeed", extras.minimumSpeed != nil),
            ("expect", extras.expect != standard.expect),
            ("onInterim", extras.onInterim != nil),
            ("keepsRequestHead", extras.keepsRequestHead),
        ]
        return isRefused.first(where: \.isSet).map { .unsupportedOption($0.name) }
    }
}

extension TransferRequest {
    /// The error for a request whose response must be delivered before it ends, because it may never end.
    var unsupportedOptionError: NetworkError? {
        guard expectsEventStream || (delivery == .stream && options.extras?.isLongLived == true) else { return nil }
        return NetworkError(
            .unsupported,
            during: .build,
            "URLSessionTransport returns only complete responses, but an event stream may never end",
            advice: "use CurlTransport"
        )
    }
}

extension NetworkError {
    fileprivate static func unsupportedOption(_ name: String) -> NetworkError {
        NetworkError(
            .unsupported,
            during: .build,
            "URLSession does not support TransferOptions.\(name)",
            advice: name == "trust"
                ? "use CurlTransport, or make the system trust the certificates" : "use CurlTransport"
        )
    }
}
