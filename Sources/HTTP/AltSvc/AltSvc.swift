/// What `Alt-Svc` says (RFC 7838, 3): a pure function of its text.
package enum AltSvc: Hashable {
    /// What was said before counts no more.
    case clear
    /// Who else answers for the origin, best first, in the place of those said before.
    case alternatives([Alternative])

    /// A server that answers for an origin, too.
    package struct Alternative: Hashable {
        /// The protocol's name in ALPN (RFC 7301, 6), as it was written.
        package var protocolName: String
        /// In lower case, an IPv6 address in brackets; empty for the origin's own.
        package var host: String
        /// In 1...65,535.
        package var port: Int
        /// Seconds that it counts; a day where nothing is said (3.1).
        package var maxAge = 86_400
        /// Whether it counts in another network as well.
        package var isPersistent = false
    }

    /// nil where the text does not follow the rules, and is to be ignored. An alternative without a host or port that
    /// may be, or whose age is no number, is left out.
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

    /// By their names in lower case; the first of a name counts. nil where they break the rules.
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
        // Other values say nothing (3.1).
        isPersistent = parameters["persist"] == "1"
    }

    /// A name of letters, digits, dots, - and _, or an IPv6 address in brackets.
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
