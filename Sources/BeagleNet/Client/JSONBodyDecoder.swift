public import BeagleNetHTTP

/// Makes values of JSON (RFC 8259) as a `JSONDecoder` with its default strategies does, in less time: dates are seconds since
/// 2001, bytes are Base64, names are taken as they are. Half of a surrogate pair is U+FFFD, which a `JSONDecoder` refuses.
///
/// Give a call, or `BeagleDependencies.bodyDecoder`, a `JSONDecoder` for other strategies.
public struct JSONBodyDecoder: BodyDecoder {
    /// A decoder; all are alike.
    public init() {}

    /// Makes a value of JSON.
    ///
    /// - Throws: `DecodingError`, or what the type itself throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try TapeDecoder.decode(type, from: data)
    }
}
