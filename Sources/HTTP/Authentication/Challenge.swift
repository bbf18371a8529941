/// One of the ways in which a server or proxy wants to be shown who asks (RFC 9110, 11.3).
package struct Challenge: Hashable {
    /// In lower case: `basic`, `digest`.
    package let scheme: String
    /// By their names in lower case; the first of a name counts.
    package var parameters: [String: String] = [:]

    /// The challenges of a `WWW-Authenticate` field, in order, up to the first that cannot be read.
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

    /// Schemes and parameters stand in one list, separated by commas: only what follows a word tells which it is.
    private enum Element {
        case scheme(String)
        case parameter(String, String)

        init?(_ reader: inout FieldReader) {
            reader.skipSpace(and: ",")
            let word = reader.token().lowercased()
            guard !word.isEmpty else { return nil }
            let end = reader.place
            reader.skipSpace()
            if reader.skip("=") {
                reader.skipSpace()
                guard let value = reader.value() else { return nil }
                self = .parameter(word, value)
                return
            }
            guard reader.place > end || reader.next == nil || reader.next == UInt8(ascii: ",") else { return nil }
            Self.skipToken68(&reader)
            self = .scheme(word)
        }

        /// What NTLM and Negotiate have in the place of parameters: a word that ends with the list's element.
        private static func skipToken68(_ reader: inout FieldReader) {
            let start = reader.place
            reader.skip { FieldReader.isTokenByte($0) || $0 == UInt8(ascii: "/") }
            reader.skip { $0 == UInt8(ascii: "=") }
            reader.skipSpace()
            if let next = reader.next, next != UInt8(ascii: ",") { reader.place = start }
        }
    }
}
