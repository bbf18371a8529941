import BeagleNet

/// A server's answer as the article of seed `003_31f48d2a11b2556d.txt` reads it: the object of its one root field, and
/// what went wrong in words.
///
/// `GraphQLResponse` tells more, and what `NetworkClient.perform` gives needs no wrapping.
public struct GraphQLResult<T: Decodable>: Decodable {
    /// The object; nil where the server gave null or nothing.
    public let object: T?
    /// What the server said went wrong. It may come beside an object.
    public let errorMessages: [String]

    /// An entry of `errors`.
    public struct Error: Decodable, Sendable {
        /// What it says.
        public let message: String

        /// Reads an entry; one without a message says nothing.
        public init(from decoder: any Decoder) throws {
            message = GraphQLError(try JSONValue(from: decoder)).message
        }
    }

    private enum CodingKeys: String, CodingKey {
        case data, errors
    }

    /// Reads an answer.
    ///
    /// - Throws: `DecodingError` where it has neither data nor errors, where the object is no `T`, or where there are
    ///   several root fields: which of them is meant only the operation can tell.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let errors = (try container.decodeIfPresent(JSONValue.self, forKey: .errors) ?? .null).graphQLErrors
        errorMessages = errors.map(\.message)
        guard try container.contains(.data) && !container.decodeNil(forKey: .data) else {
            object = nil
            guard errors.isEmpty else { return }
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "neither data nor errors")
            )
        }
        let data = try container.nestedContainer(keyedBy: RootKey.self, forKey: .data)
        let fields = data.allKeys.filter { $0.stringValue != "__typename" }
        guard fields.count < 2 else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: data.codingPath,
                    debugDescription:
                        "several root fields: \(fields.map(\.stringValue).sorted().joined(separator: ", "))"
                )
            )
        }
        object = try fields.first.flatMap { try data.decodeIfPresent(T.self, forKey: $0) }
    }

    private struct RootKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) { nil }
    }
}

extension GraphQLResult: Sendable where T: Sendable {}
