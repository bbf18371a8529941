public import BeagleNetHTTP

/// Makes JSON of values. `JSONEncoder` does.
public protocol BodyEncoder: Sendable {
    /// Makes the bytes of this value.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension JSONEncoder: BodyEncoder {}
