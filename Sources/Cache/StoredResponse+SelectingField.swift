package import BeagleNetHTTP

extension StoredResponse {
    /// A field of a request that selects among the stored responses of a URL, because their `Vary` names it (RFC 9111,
    /// 4.1).
    public struct SelectingField: Sendable, Hashable, Codable {
        /// The name, in lower case.
        public let name: String
        /// The normalized value, or `nil` if the request doesn't have the field. A store that outlives the process
        /// holds a keyed digest of the value instead.
        public let value: String?

        /// Describes a field.
        public init(name: String, value: String?) {
            self.name = name
            self.value = value
        }

        /// The field of a request.
        ///
        /// Fields of the same name are joined, and white space around the elements of lists is removed. For the
        /// `Accept` fields, neither case nor order counts beyond the quality values, because they don't change the
        /// meaning.
        package init(_ name: String, of fields: HTTPFields) {
            self.name = name
            guard let key = HTTPField.Name(name), let text = fields.joined(key) else {
                value = nil
                return
            }
            value =
                switch name {
                case "accept", "accept-encoding", "accept-language", "accept-charset": Self.preferences(text)
                case "cookie", "authorization": text
                default: Self.elements(text).joined(separator: ", ")
                }
        }

        private static func elements(_ text: String) -> [Substring] {
            text.split(separator: ",", omittingEmptySubsequences: false).map { element in
                var rest = element.drop { $0 == " " || $0 == "\t" }
                while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
                return rest
            }
        }

        /// The elements with their quality (RFC 9110, 12.4.2), most preferred first, each in one spelling.
        private static func preferences(_ text: String) -> String {
            let ranked = elements(text.lowercased()).filter { !$0.isEmpty }.map { element in
                let parts = element.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
                let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
                return (quality, name: parts.filter { !$0.hasPrefix("q=") }.joined(separator: ";"))
            }
            return ranked.sorted { $0.0 != $1.0 ? $0.0 > $1.0 : $0.name < $1.name }
                .map { "\($0.name);q=\($0.0)" }.joined(separator: ", ")
        }
    }
}
