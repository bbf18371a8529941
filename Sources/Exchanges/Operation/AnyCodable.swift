public import BeagleNetHTTP
import Foundation

/// Any JSON value. SwiftGraphQLClient has a type of another package here, made of `Any`; this is `JSONValue`, which is
/// written with the same literals, and can be compared and sent to another thread.
///
/// `AnyCodable("text")`, `AnyCodable(1)`, `AnyCodable(value)` of anything `Encodable`, and `value` are spelled as there.
public typealias AnyCodable = JSONValue

extension JSONValue {
    /// Text.
    public init(_ text: String) { self = .string(text) }

    /// A truth value.
    public init(_ value: Bool) { self = .bool(value) }

    /// A whole number.
    public init(_ number: Int) { self = .integer(Int64(number)) }

    /// A number.
    public init(_ number: Double) { self = .number(number) }

    /// Values in order.
    public init(_ elements: [JSONValue]) { self = .array(elements) }

    /// Values by name.
    public init(_ members: [String: JSONValue]) { self = .object(members) }

    /// What an encoder makes of a value, as a `JSONEncoder` writes it.
    ///
    /// - Throws: `NetworkError` where it has no JSON form.
    public init(_ value: some Encodable) throws(NetworkError) {
        do {
            self = try JSONValue(parsing: JSONEncoder().encode(value))
        } catch {
            throw NetworkError(wrapping: error)
        }
    }

    /// The value as Swift's own types have it: nil, `Bool`, `Int`, `Double`, `String`, `[Any?]`, `[String: Any?]`.
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
