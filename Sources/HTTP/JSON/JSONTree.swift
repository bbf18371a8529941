#if !canImport(FoundationEssentials)
    import Foundation
#endif

extension JSONValue {
    /// The JSON form of a tree of Swift values: text, truth values, numbers, arrays, dictionaries with text keys,
    /// optionals of these, and what is `Encodable`.
    ///
    /// - Parameters:
    ///   - tree: the value.
    ///   - leaf: asked first at every place, for values that are known elsewhere.
    ///   - encode: writes `Encodable` values as JSON; a plain `JSONEncoder` by default.
    /// - Throws: `NetworkError` of kind `.badRequest` that names place and type of the first value without a JSON form.
    package init(
        converting tree: Any,
        leaf: (Any) -> JSONValue? = { _ in nil },
        encode: (any Encodable) throws -> Data = { try JSONEncoder().encode($0) }
    ) throws(NetworkError) {
        self = try Self.convert(tree, "$", leaf, encode)
    }

    private static func convert(
        _ value: Any,
        _ place: String,
        _ leaf: (Any) -> JSONValue?,
        _ encode: (any Encodable) throws -> Data
    ) throws(NetworkError) -> JSONValue {
        if let known = leaf(value) ?? scalar(value) { return known }
        if let optional = value as? any AnyOptional {
            guard let wrapped = optional.wrapped else { return .null }
            return try convert(wrapped, place, leaf, encode)
        }
        if let elements = value as? [Any] {
            var converted: [JSONValue] = []
            for (index, element) in elements.enumerated() {
                converted.append(try convert(element, "\(place)[\(index)]", leaf, encode))
            }
            return .array(converted)
        }
        if let members = value as? [String: Any] {
            var converted: [String: JSONValue] = [:]
            for (name, member) in members {
                converted[name] = try convert(member, "\(place).\(name)", leaf, encode)
            }
            return .object(converted)
        }
        return try Self.encode(value, place, encode)
    }

    /// Asks for the very type, since a bridged number would pass for a truth value. A number that JSON cannot express is
    /// left to the encoder.
    private static func scalar(_ value: Any) -> JSONValue? {
        switch type(of: value) {
        case is JSONValue.Type: value as? JSONValue
        case is String.Type: (value as? String).map { .string($0) }
        case is Substring.Type: (value as? Substring).map { .string(String($0)) }
        case is Bool.Type: (value as? Bool).map { .bool($0) }
        case is Double.Type: (value as? Double).flatMap { $0.isFinite ? .number($0) : nil }
        case is Float.Type: (value as? Float).flatMap { $0.isFinite ? .number(Double($0)) : nil }
        default: whole(value)
        }
    }

    private static func whole(_ value: Any) -> JSONValue? {
        guard type(of: value) is any FixedWidthInteger.Type, let number = value as? any FixedWidthInteger
        else { return nil }
        return Int64(exactly: number).map { .integer($0) } ?? .number(Double(number))
    }

    private static func encode(
        _ value: Any,
        _ place: String,
        _ encode: (any Encodable) throws -> Data
    ) throws(NetworkError) -> JSONValue {
        // JSONEncoder would write dates as seconds since 2001 and bytes as Base64, which is nobody's obvious wish.
        guard let encodable = value as? any Encodable, !(value is Date), !(value is Data) else {
            throw unconvertible(value, place, nil)
        }
        do {
            return try JSONValue(parsing: encode(encodable))
        } catch {
            throw unconvertible(value, place, error)
        }
    }

    private static func unconvertible(_ value: Any, _ place: String, _ cause: (any Error)?) -> NetworkError {
        NetworkError(
            .badRequest,
            during: .build,
            "the body has no JSON form at \(place): \(type(of: value))",
            advice: "send text or numbers there, or an Encodable value with an encoder of its own",
            underlying: cause
        )
    }

    /// The value as a tree of Swift values, as Foundation's JSON calls take it.
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
