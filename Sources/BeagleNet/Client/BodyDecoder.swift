import BeagleNetHTTP
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Makes values of bodies. `JSONBodyDecoder`, `JSONDecoder` and `PropertyListDecoder` do.
public protocol BodyDecoder: Sendable {
    /// Makes a value of these bytes.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: BodyDecoder {}
extension PropertyListDecoder: BodyDecoder {}

extension NetworkError {
    /// A body that did not become a value, with the place of the fault where it is known.
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
        // Their descriptions quote the body.
        case .dataCorrupted(let context) where context.codingPath.isEmpty: ("the data is malformed", "")
        case .dataCorrupted(let context): ("invalid value", place(context.codingPath))
        default: ("\(type(of: error))", "")
        }
    }

    private static func place(_ path: [any CodingKey]) -> String {
        path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
    }
}
