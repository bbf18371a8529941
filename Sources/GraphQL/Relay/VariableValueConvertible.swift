public import BeagleNet

/// A type whose values can be values of variables.
///
/// (The name is Relay's.)
///
/// An enum with a string or numeric raw value needs only a declaration: `extension Order: VariableValueConvertible {}`.
public protocol VariableValueConvertible {
    /// The value as a variable.
    var variableValue: VariableValue { get }
}

/// A type that can be the variables of an operation, such as a struct with a property for each.
///
/// (The name is Relay's.)
public protocol VariableDataConvertible: VariableValueConvertible {
    /// The variables.
    var variableData: VariableData { get }
}

extension VariableDataConvertible {
    /// The variables as an input object.
    public var variableValue: VariableValue { .object(variableData) }
}

extension VariableValueConvertible where Self: RawRepresentable, RawValue: VariableValueConvertible {
    /// The raw value as a variable.
    public var variableValue: VariableValue { rawValue.variableValue }
}

extension VariableValue: VariableValueConvertible {
    /// The value itself.
    public var variableValue: VariableValue { self }
}

extension String: VariableValueConvertible {
    /// The string as a variable.
    public var variableValue: VariableValue { .string(self) }
}

extension Substring: VariableValueConvertible {
    /// The string as a variable.
    public var variableValue: VariableValue { .string(String(self)) }
}

extension Bool: VariableValueConvertible {
    /// The Boolean as a variable.
    public var variableValue: VariableValue { .bool(self) }
}

extension Double: VariableValueConvertible {
    /// The number as a variable.
    public var variableValue: VariableValue { .float(self) }
}

extension Float: VariableValueConvertible {
    /// The number with the same decimal notation: 0.1 stays 0.1.
    public var variableValue: VariableValue { .float(Double("\(self)") ?? Double(self)) }
}

extension VariableValueConvertible where Self: FixedWidthInteger {
    /// An integer, or a string if `Int` can't hold the value, so that no digit is lost.
    public var variableValue: VariableValue { Int(exactly: self).map { .int($0) } ?? .string("\(self)") }
}

extension Int: VariableValueConvertible {}
extension Int8: VariableValueConvertible {}
extension Int16: VariableValueConvertible {}
extension Int32: VariableValueConvertible {}
extension Int64: VariableValueConvertible {}
extension UInt: VariableValueConvertible {}
extension UInt8: VariableValueConvertible {}
extension UInt16: VariableValueConvertible {}
extension UInt32: VariableValueConvertible {}
extension UInt64: VariableValueConvertible {}

extension Decimal: VariableValueConvertible {
    /// A string, so that no digit is lost.
    public var variableValue: VariableValue { .string("\(self)") }
}

extension UUID: VariableValueConvertible {
    /// The UUID as a string.
    public var variableValue: VariableValue { .string(uuidString) }
}

extension URL: VariableValueConvertible {
    /// The absolute URL as a string.
    public var variableValue: VariableValue { .string(absoluteString) }
}

extension Date: VariableValueConvertible {
    /// A string such as `2026-11-22T08:15:30Z` (RFC 3339), with milliseconds if they aren't zero.
    public var variableValue: VariableValue {
        let milliseconds = (timeIntervalSince1970 * 1_000).rounded()
        let isWhole = milliseconds.truncatingRemainder(dividingBy: 1_000) == 0
        let date = Date(timeIntervalSince1970: milliseconds / 1_000)
        return .string(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: !isWhole)))
    }
}

extension JSONValue: VariableValueConvertible {
    /// The JSON value as a variable.
    public var variableValue: VariableValue {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .integer(let number): number.variableValue
        case .number(let number): .float(number)
        case .string(let text): .string(text)
        case .array(let elements): .array(elements.map(\.variableValue))
        case .object(let members): .object(VariableData(members))
        }
    }
}

extension Optional: VariableValueConvertible where Wrapped: VariableValueConvertible {
    /// The wrapped value, or null.
    public var variableValue: VariableValue { self?.variableValue ?? .null }
}

extension Array: VariableValueConvertible where Element: VariableValueConvertible {
    /// A list of the elements.
    public var variableValue: VariableValue { .array(map(\.variableValue)) }
}

extension Dictionary: VariableValueConvertible where Key == String, Value: VariableValueConvertible {
    /// The dictionary as an input object.
    public var variableValue: VariableValue { .object(variableData) }
}

extension Dictionary: VariableDataConvertible where Key == String, Value: VariableValueConvertible {
    /// The values by name.
    public var variableData: VariableData { VariableData(self) }
}
