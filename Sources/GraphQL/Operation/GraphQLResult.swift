import BeagleNet

/// A server's answer as the article of seed `003_31f48d2a11b2556d.txt` reads it: the object of its one root field, and
/// what went wrong in words.
///
/// `GraphQLResponse` tells more, and what `NetworkClient.perform` gives needs no wrapping.
public struct GraphQLResult<T: Decodable>: Decodable {
    /// The object; nil where the server gave null or nothing, and where it gave errors beside what is no such object.
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

    /// Reads an answer. One that has errors is read whatever is beside them: they explain more than a missing object.
    ///
    /// - Throws: `DecodingError` where it has no errors, and either no data, or an object that is no `T`, or several root
    ///   fields: which of them is meant only the operation can tell.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let errors = (try container.decodeIfPresent(JSONValue.self, forKey: .errors) ?? .null).graphQLErrors
        errorMessages = errors.map(\.message)
        do {
            object = try Self.object(in: container)
        } catch {
            guard !errors.isEmpty else { throw error }
            object = nil
        }
    }

    private static func object(in container: KeyedDecodingContainer<CodingKeys>) throws -> T? {
        guard try container.contains(.data) && !container.decodeNil(forKey: .data) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: container.codingPath, debugDescription: "neither data nor errors")
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
        return try fields.first.flatMap { try data.decodeIfPresent(T.self, forKey: $0) }
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
