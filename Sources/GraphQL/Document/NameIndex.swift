/// Maps declared names to values. Up to eight names are compared byte by byte; more are hashed.
struct NameIndex {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var names: [(place: GraphQLNode.SourceRange, value: Int)] = []
    private var hashed: [String: Int] = [:]
    private static let few = 8

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// Returns the value declared for a name, or `nil` if the name isn't declared.
    func value(of name: GraphQLNode.SourceRange) -> Int? {
        guard names.count <= Self.few else { return hashed[text(name)] }
        for known in names where isSame(known.place, name) { return known.value }
        return nil
    }

    /// Declares a name. Returns `false` if it is already declared.
    mutating func declare(_ name: GraphQLNode.SourceRange, as value: Int) -> Bool {
        guard self.value(of: name) == nil else { return false }
        names.append((name, value))
        if names.count == Self.few + 1 {
            for known in names { hashed[text(known.place)] = known.value }
        } else if names.count > Self.few {
            hashed[text(name)] = value
        }
        return true
    }

    private func isSame(_ one: GraphQLNode.SourceRange, _ other: GraphQLNode.SourceRange) -> Bool {
        let (one, other) = (one.range, other.range)
        guard one.count == other.count else { return false }
        for index in 0..<one.count where bytes[one.lowerBound + index] != bytes[other.lowerBound + index] {
            return false
        }
        return true
    }

    private func text(_ name: GraphQLNode.SourceRange) -> String {
        String(decoding: bytes[name.range], as: UTF8.self)
    }
}
