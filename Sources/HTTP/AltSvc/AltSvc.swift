/// The parsed value of an `Alt-Svc` header field (RFC 7838, 3).
package enum AltSvc: Hashable {
    /// Previously announced alternatives are no longer valid.
    case clear
    /// The alternative services of the origin, best first. They replace those announced before.
    case alternatives([Alternative])

    /// Another server that serves the same origin.
    package struct Alternative: Hashable {
        /// The protocol's ALPN name (RFC 7301, 6), as the server wrote it.
        package var protocolName: String
        /// The host in lower case, with an IPv6 address in brackets. Empty for the origin's own host.
        package var host: String
        /// The port, in 1...65,535.
        package var port: Int
        /// The lifetime in seconds. One day unless the server says otherwise (3.1).
        package var maxAge = 86_400
        /// Whether the alternative stays valid when the network changes.
        package var isPersistent = false
    }

    /// Parses a field value, or returns `nil` if the syntax is invalid and the field must be ignored.
    ///
    /// Alternatives with an invalid host, port or age are skipped.
    package init?(_ text: String) {
        var reader = FieldReader(text)
        var alternatives: [Alternative] = []
        var count = 0
        reader.skipSpace(and: ",")
        while reader.next != nil {
            let name = reader.token()
            if name == "clear", count == 0 {
                reader.skipSpace(and: ",")
                guard reader.next == nil else { return nil }
                self = .clear
                return
            }
            guard !name.isEmpty, reader.skip("="), reader.next == UInt8(ascii: "\""), let authority = reader.value(),
                let parameters = Self.parameters(&reader)
            else { return nil }
            count += 1
            if let alternative = Alternative(name, at: authority, parameters) { alternatives.append(alternative) }
            reader.skipSpace()
            guard reader.next == nil || reader.skip(",") else { return nil }
            reader.skipSpace(and: ",")
        }
        guard count > 0 else { return nil }
        self = .alternatives(alternatives)
    }

    /// Reads parameters, keyed by lowercase name. The first parameter of a name wins.
    ///
    /// - Returns: The parameters, or `nil` if the syntax is invalid.
    private static func parameters(_ reader: inout FieldReader) -> [String: String]? {
        var parameters: [String: String] = [:]
        while true {
            reader.skipSpace()
            guard reader.skip(";") else { return parameters }
            reader.skipSpace()
            let name = reader.token().lowercased()
            guard !name.isEmpty, reader.skip("="), let value = reader.value() else { return nil }
            if parameters[name] == nil { parameters[name] = value }
        }
    }
}

extension AltSvc.Alternative {
    fileprivate init?(_ protocolName: String, at authority: String, _ parameters: [String: String]) {
        guard let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let digits = authority.utf8[colon...].dropFirst()
        guard digits.count <= 5, let port = Int(digits: Substring(digits)), (1...65_535).contains(port) else {
            return nil
        }
        self.init(protocolName: protocolName, host: authority[..<colon].lowercased(), port: port)
        guard host.isEmpty || Self.isHost(host) else { return nil }
        if let age = parameters["ma"] {
            guard let seconds = Int(digits: age) else { return nil }
            maxAge = seconds
        }
        // Other values have no meaning (3.1).
        isPersistent = parameters["persist"] == "1"
    }

    /// Whether the text is a name of letters, digits, dots, `-` and `_`, or an IPv6 address in brackets.
    static func isHost(_ text: String) -> Bool {
        if text.hasPrefix("[") { return text.hasSuffix("]") && IPAddress(text)?.isIPv6 == true }
        return (1...255).contains(text.utf8.count) && !text.hasSuffix(".")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
