public import BeagleNetHTTP

/// An encoder of JSON bodies, such as `JSONEncoder`.
public protocol BodyEncoder: Sendable {
    /// Encodes a value as JSON.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension JSONEncoder: BodyEncoder {}
