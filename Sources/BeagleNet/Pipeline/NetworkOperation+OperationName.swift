extension NetworkOperation {
    /// The readable name of a GraphQL operation, such as `query Home`.
    ///
    /// Leaves out a name that isn't a valid GraphQL name or is longer than 128 bytes.
    package var title: String? {
        guard kind.isGraphQL else { return nil }
        guard let operationName, operationName.utf8.allSatisfy(\.isNameByte), operationName.utf8.count <= 128 else {
            return kind.name
        }
        return "\(kind.name) \(operationName)"
    }
}

extension NetworkOperation.Kind {
    /// Whether it is a GraphQL operation.
    package var isGraphQL: Bool { self == .query || self == .mutation || self == .subscription }
}

extension UInt8 {
    /// Whether the byte may be part of a GraphQL name: a letter, a digit or an underscore.
    fileprivate var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
