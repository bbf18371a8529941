public import BeagleNetHTTP

/// A JSON decoder (RFC 8259) that is faster than `JSONDecoder` and decodes as its default strategies do.
///
/// Dates are seconds since 2001, bytes are Base64, and names are used unchanged. An unpaired surrogate decodes as
/// U+FFFD, which a `JSONDecoder` rejects.
///
/// For other strategies, pass a `JSONDecoder` to the call or set `BeagleDependencies.bodyDecoder`.
public struct JSONBodyDecoder: BodyDecoder {
    /// Creates a decoder; it has no options.
    public init() {}

    /// Decodes a value from JSON.
    ///
    /// - Throws: `DecodingError`, or the error of the type's own initializer.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try TapeDecoder.decode(type, from: data)
    }
}
