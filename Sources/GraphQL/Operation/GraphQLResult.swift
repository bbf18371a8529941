import BeagleNet

/// A server's response in the form of the article in seed `003_31f48d2a11b2556d.txt`: the object of its only root
/// field, and the error messages.
///
/// `GraphQLResponse` has more details, and `NetworkClient.perform` returns the value directly.
public struct GraphQLResult<T: Decodable>: Decodable {
    /// The object, or `nil` if it is null, missing or, in a response with errors, can't be decoded.
    public let object: T?
    /// The server's error messages, which may accompany an object.
    public let errorMessages: [String]

    /// An entry of `errors`.
    public struct Error: Decodable, Sendable {
        /// The error message.
        public let message: String

        /// Decodes an entry.
        ///
        /// If it has no message, `message` is empty.
        public init(from decoder: any Decoder) throws {
            message = GraphQLError(try JSONValue(from: decoder)).message
        }
    }

    private enum CodingKeys: String, CodingKey {
        case data, errors
    }

    /// Decodes a response.
    ///
    /// If it has errors, a missing or invalid object is accepted, because the errors explain more.
    ///
    /// - Throws: `DecodingError` if the response has no errors, and either has no data, has an object that can't be
    ///   decoded as `T`, or has several root fields: only the operation determines which one is meant.
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

/// The part of a result's data from which a value is decoded.
public enum GraphQLRoot: Sendable, Hashable {
    /// The operation's only root field, not counting `__typename`.
    case onlyField
    /// The root field with this response key, which is its alias if it has one.
    case field(String)
    /// All of the data, with the root fields as members.
    case wholeData
}
