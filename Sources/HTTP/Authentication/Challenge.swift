/// An authentication challenge from a server or proxy (RFC 9110, 11.3).
package struct Challenge: Hashable {
    /// The scheme in lower case, such as `basic` or `digest`.
    package let scheme: String
    /// The parameters, keyed by lowercase name. The first parameter of a name wins.
    package var parameters: [String: String] = [:]

    /// Parses the challenges of a `WWW-Authenticate` field, in order, up to the first invalid one.
    package static func read(_ field: String) -> [Challenge] {
        var reader = FieldReader(field)
        var challenges: [Challenge] = []
        while let element = Element(&reader) {
            switch element {
            case .scheme(let scheme): challenges.append(Challenge(scheme: scheme))
            case .parameter(let name, let value):
                guard let last = challenges.indices.last else { return [] }
                if challenges[last].parameters[name] == nil { challenges[last].parameters[name] = value }
            }
        }
        return challenges
    }

    /// An element of the list of challenges: a scheme or a parameter.
    ///
    /// Both share one comma-separated list. Only the characters after the first word tell them apart.
    private enum Element {
        case scheme(String)
        case parameter(String, String)

        init?(_ reader: inout FieldReader) {
            reader.skipSpace(and: ",")
            let word = reader.token().lowercased()
            guard !word.isEmpty else { return nil }
            let end = reader.position
            reader.skipSpace()
            if reader.skip("=") {
                reader.skipSpace()
                guard let value = reader.value() else { return nil }
                self = .parameter(word, value)
                return
            }
            guard reader.position > end || reader.next == nil || reader.next == UInt8(ascii: ",") else { return nil }
            Self.skipToken68(&reader)
            self = .scheme(word)
        }

        /// Skips the single word that NTLM and Negotiate send in place of parameters (`token68`).
        private static func skipToken68(_ reader: inout FieldReader) {
            let start = reader.position
            reader.skip { FieldReader.isTokenByte($0) || $0 == UInt8(ascii: "/") }
            reader.skip { $0 == UInt8(ascii: "=") }
            reader.skipSpace()
            if let next = reader.next, next != UInt8(ascii: ",") { reader.position = start }
        }
    }
}
