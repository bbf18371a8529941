import BeagleNetHTTP

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A decoder of bodies, such as `JSONBodyDecoder`, `JSONDecoder` or `PropertyListDecoder`.
public protocol BodyDecoder: Sendable {
    /// Decodes a value from a body.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: BodyDecoder {}
extension PropertyListDecoder: BodyDecoder {}

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

extension NetworkError {
    /// Creates an error for a body that couldn't be decoded, with the coding path of the fault if it is known.
    package init(decoding type: any Decodable.Type, failedWith error: any Error) {
        let (fault, place) = Self.explain(error)
        let message = "the body cannot be decoded as \(type): \(fault)" + (place.isEmpty ? "" : " at \(place)")
        self.init(.decoding, during: .decode, message, underlying: error)
    }

    private static func explain(_ error: any Error) -> (fault: String, place: String) {
        switch error as? DecodingError {
        case .keyNotFound(let key, let context): ("\(key.stringValue) is missing", place(context.codingPath))
        case .valueNotFound(let type, let context): ("expected \(type), found null", place(context.codingPath))
        case .typeMismatch(let type, let context): ("expected \(type)", place(context.codingPath))
        // The descriptions of these errors quote the body.
        case .dataCorrupted(let context) where context.codingPath.isEmpty: ("the data is malformed", "")
        case .dataCorrupted(let context): ("invalid value", place(context.codingPath))
        default: ("\(type(of: error))", "")
        }
    }

    private static func place(_ path: [any CodingKey]) -> String {
        path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
    }
}
