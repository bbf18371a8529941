#if !canImport(FoundationEssentials)
    import Foundation
#endif

/// JSON made from Swift values: strings, Booleans, numbers, arrays, dictionaries with string keys, optionals of these,
/// and `Encodable` values.
///
/// Numbers are written as `JSONSerialization` writes them on Linux: `1.0` as `1` and `Float(0.1)` as `0.1`. They keep
/// digits that a `JSONValue` would lose.
package enum JSONTree: Sendable {
    /// A finished value.
    case value(JSONValue)
    /// The JSON text of a number or Boolean.
    case literal(String)
    case array([JSONTree])
    case object([String: JSONTree])
}

extension JSONTree {
    /// Converts a tree of Swift values.
    ///
    /// - Parameters:
    ///   - tree: The value.
    ///   - leaf: A function that is called first for each value, and returns its JSON or `nil`.
    ///   - encode: A function that encodes `Encodable` values as JSON. The default is a plain `JSONEncoder`.
    /// - Throws: `NetworkError` of kind `.badRequest` with the path and type of the first value that has no JSON form.
    package init(
        converting tree: Any,
        leaf: (Any) -> JSONTree? = { _ in nil },
        encode: (any Encodable) throws -> Data = { try JSONEncoder().encode($0) }
    ) throws(NetworkError) {
        self = try Self.convert(tree, "$", leaf, encode)
    }

    private static func convert(
        _ value: Any,
        _ place: String,
        _ leaf: (Any) -> JSONTree?,
        _ encode: (any Encodable) throws -> Data
    ) throws(NetworkError) -> JSONTree {
        if let known = leaf(value) ?? scalar(value) { return known }
        if let optional = value as? any AnyOptional {
            guard let wrapped = optional.wrapped else { return .value(.null) }
            return try convert(wrapped, place, leaf, encode)
        }
        if let elements = value as? [Any] {
            var converted: [JSONTree] = []
            for (index, element) in elements.enumerated() {
                converted.append(try convert(element, "\(place)[\(index)]", leaf, encode))
            }
            return .array(converted)
        }
        if let members = value as? [String: Any] {
            var converted: [String: JSONTree] = [:]
            for (name, member) in members {
                converted[name] = try convert(member, "\(place).\(name)", leaf, encode)
            }
            return .object(converted)
        }
        return try Self.encode(value, place, encode)
    }

    /// Converts a scalar by its exact type, because a bridged number could be cast to `Bool`. Numbers that JSON can't
    /// represent are left to the encoder.
    private static func scalar(_ value: Any) -> JSONTree? {
        switch type(of: value) {
        case is JSONValue.Type: (value as? JSONValue).map { .value($0) }
        case is String.Type: (value as? String).map { .value(.string($0)) }
        case is Substring.Type: (value as? Substring).map { .value(.string(String($0))) }
        case is Bool.Type: (value as? Bool).map { .value(.bool($0)) }
        case is Decimal.Type: (value as? Decimal).flatMap { $0.isNaN ? nil : .literal("\($0)") }
        case is any BinaryFloatingPoint.Type: (value as? any BinaryFloatingPoint).flatMap(fraction)
        case is any FixedWidthInteger.Type: .literal("\(value)")
        default: nil
        }
    }

    /// Returns the shortest digits that identify the number, without `.0`.
    private static func fraction(_ number: any BinaryFloatingPoint) -> JSONTree? {
        guard number.isFinite else { return nil }
        let text = "\(number)"
        return .literal(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }

    private static func encode(
        _ value: Any,
        _ place: String,
        _ encode: (any Encodable) throws -> Data
    ) throws(NetworkError) -> JSONTree {
        // JSONEncoder would write dates as seconds since 2001 and data as Base64, which is rarely what the caller
        // expects.
        guard let encodable = value as? any Encodable, !(value is Date), !(value is Data) else {
            throw unconvertible(value, place, nil)
        }
        do {
            let tape = try JSONTape(encode(encodable))
            return try tape.reading { try TapeDecoder(tape: tape, index: 0).tree() }
        } catch {
            throw unconvertible(value, place, error)
        }
    }

    private static func unconvertible(_ value: Any, _ place: String, _ cause: (any Error)?) -> NetworkError {
        NetworkError(
            .badRequest,
            during: .build,
            "the body cannot be written as JSON at \(place): \(type(of: value)) is not supported",
            advice: "send text or numbers there, or an Encodable value with its own encoder",
            underlying: cause
        )
    }

    /// The tree as Swift values that Foundation's JSON functions accept.
    package var any: Any {
        switch self {
        case .value(let value): value.tree
        case .literal(let text):
            Int64(text) ?? UInt64(text) ?? Bool(text)
                ?? (text.utf8.count > 17 ? Decimal(string: text) : nil) ?? Double(text) ?? text as Any
        case .array(let elements): elements.map(\.any)
        case .object(let members): members.mapValues(\.any)
        }
    }
}

extension JSONValue {
    /// The value as a tree of Swift values that Foundation's JSON functions accept.
    package var tree: Any {
        switch self {
        #if canImport(FoundationEssentials)
            case .null: Any?.none as Any
        #else
            case .null: NSNull()
        #endif
        case .bool(let value): value
        case .integer(let value): value
        case .number(let value): value
        case .string(let value): value
        case .array(let elements): elements.map(\.tree)
        case .object(let members): members.mapValues(\.tree)
        }
    }
}

private protocol AnyOptional {
    var wrapped: Any? { get }
}

extension Optional: AnyOptional {
    fileprivate var wrapped: Any? { self }
}
