public import BeagleNetHTTP
import Foundation

/// Any JSON value.
///
/// SwiftGraphQLClient uses the `AnyCodable` of another package, which wraps `Any`. This one is `JSONValue`: it supports
/// the same literals, and is also `Equatable` and `Sendable`.
///
/// `AnyCodable("text")`, `AnyCodable(1)`, `AnyCodable(value)` with any `Encodable` value, and `value` are spelled as in
/// that package.
public typealias AnyCodable = JSONValue

extension JSONValue {
    /// Creates a JSON string.
    public init(_ text: String) { self = .string(text) }

    /// Creates a JSON Boolean.
    public init(_ value: Bool) { self = .bool(value) }

    /// Creates an integer.
    public init(_ number: Int) { self = .integer(Int64(number)) }

    /// Creates a number.
    public init(_ number: Double) { self = .number(number) }

    /// Creates an array.
    public init(_ elements: [JSONValue]) { self = .array(elements) }

    /// Creates an object.
    public init(_ members: [String: JSONValue]) { self = .object(members) }

    /// Creates a JSON value by encoding a value with `JSONEncoder`.
    ///
    /// - Throws: `NetworkError` if the value can't be encoded as JSON.
    public init(_ value: some Encodable) throws(NetworkError) {
        do {
            self = try JSONValue(parsing: JSONEncoder().encode(value))
        } catch {
            throw NetworkError(wrapping: error)
        }
    }

    /// The value as Swift's own types: `nil`, `Bool`, `Int`, `Double`, `String`, `[Any?]` or `[String: Any?]`.
    public var value: Any? {
        switch self {
        case .null: nil
        case .bool(let value): value
        case .integer(let number): Int(exactly: number) ?? number
        case .number(let number): number
        case .string(let text): text
        case .array(let elements): elements.map(\.value)
        case .object(let members): members.mapValues(\.value)
        }
    }
}
