extension NetworkOperation {
    /// What a GraphQL operation is, for people: `query Home`. A name that is none of the language is left out.
    package var title: String? {
        guard kind.isGraphQL else { return nil }
        guard let operationName, operationName.utf8.allSatisfy(\.isOfName), operationName.utf8.count <= 128 else {
            return kind.name
        }
        return "\(kind.name) \(operationName)"
    }
}

extension NetworkOperation.Kind {
    /// Whether it is one of GraphQL.
    package var isGraphQL: Bool { self == .query || self == .mutation || self == .subscription }
}

extension UInt8 {
    /// Names of GraphQL are of letters, digits and underscores.
    fileprivate var isOfName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
