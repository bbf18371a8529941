extension GraphQLSelection {
    /// The values of an operation's variables by name, as passed to a template.
    public struct Arguments: Encodable, Sendable {
        private let values: [(name: String, value: any Encodable & Sendable)]

        init(_ values: [(String, any Encodable & Sendable)]) {
            self.values = values
        }

        /// Encodes an object without the values that are `.none`.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Name.self)
            for (name, value) in values where (value as? any Omittable)?.isOmitted != true {
                try container.encode(value, forKey: Name(stringValue: name))
            }
        }

        private struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }

            init(stringValue: String) {
                self.stringValue = stringValue
            }

            init?(intValue: Int) { nil }
        }
    }
}

/// A value that may be left out.
private protocol Omittable {
    var isOmitted: Bool { get }
}

extension GraphQLNullable: Omittable {
    fileprivate var isOmitted: Bool {
        if case .none = self { return true }
        return false
    }
}
