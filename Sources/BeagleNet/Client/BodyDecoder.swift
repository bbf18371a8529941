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
