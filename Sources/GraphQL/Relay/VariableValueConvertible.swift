public import BeagleNet

/// What can be the value of a variable. An enum of text or numbers needs only to say so:
/// `extension Order: VariableValueConvertible {}`. (The word is Relay's.)
public protocol VariableValueConvertible {
    /// The value.
    var variableValue: VariableValue { get }
}

/// What can be the variables of an operation, as a struct with a property for each. (The word is Relay's.)
public protocol VariableDataConvertible: VariableValueConvertible {
    /// The variables.
    var variableData: VariableData { get }
}

extension VariableDataConvertible {
    /// The variables as an input object.
    public var variableValue: VariableValue { .object(variableData) }
}

extension VariableValueConvertible where Self: RawRepresentable, RawValue: VariableValueConvertible {
    /// The raw value.
    public var variableValue: VariableValue { rawValue.variableValue }
}

extension VariableValue: VariableValueConvertible {
    /// Itself.
    public var variableValue: VariableValue { self }
}

extension String: VariableValueConvertible {
    /// Text.
    public var variableValue: VariableValue { .string(self) }
}

extension Substring: VariableValueConvertible {
    /// Text.
    public var variableValue: VariableValue { .string(String(self)) }
}

extension Bool: VariableValueConvertible {
    /// `true` or `false`
    public var variableValue: VariableValue { .bool(self) }
}

extension Double: VariableValueConvertible {
    /// A number.
    public var variableValue: VariableValue { .float(self) }
}

extension Float: VariableValueConvertible {
    /// The number that is written as this one is: 0.1 stays 0.1.
    public var variableValue: VariableValue { .float(Double("\(self)") ?? Double(self)) }
}

extension VariableValueConvertible where Self: FixedWidthInteger {
    /// A whole number; one that `Int` cannot hold is text, so that no digit is lost.
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
    /// Text, so that no digit is lost.
    public var variableValue: VariableValue { .string("\(self)") }
}

extension UUID: VariableValueConvertible {
    /// Text.
    public var variableValue: VariableValue { .string(uuidString) }
}

extension URL: VariableValueConvertible {
    /// The whole URL as text.
    public var variableValue: VariableValue { .string(absoluteString) }
}

extension Date: VariableValueConvertible {
    /// Text as `2026-11-22T08:15:30Z` (RFC 3339), with milliseconds where there are some.
    public var variableValue: VariableValue {
        let milliseconds = (timeIntervalSince1970 * 1_000).rounded()
        let isWhole = milliseconds.truncatingRemainder(dividingBy: 1_000) == 0
        let date = Date(timeIntervalSince1970: milliseconds / 1_000)
        return .string(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: !isWhole)))
    }
}

extension JSONValue: VariableValueConvertible {
    /// The same value.
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
    /// The value, or null.
    public var variableValue: VariableValue { self?.variableValue ?? .null }
}

extension Array: VariableValueConvertible where Element: VariableValueConvertible {
    /// A list.
    public var variableValue: VariableValue { .array(map(\.variableValue)) }
}

extension Dictionary: VariableValueConvertible where Key == String, Value: VariableValueConvertible {
    /// An input object.
    public var variableValue: VariableValue { .object(variableData) }
}

extension Dictionary: VariableDataConvertible where Key == String, Value: VariableValueConvertible {
    /// The values by name.
    public var variableData: VariableData { VariableData(self) }
}
