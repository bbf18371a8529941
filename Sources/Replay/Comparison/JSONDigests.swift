import BeagleNet
import BeagleNetHTTP

/// The digests of all values in a JSON text, which are equal for values that the rules consider equal, computed in one
/// pass.
///
/// Different values have different digests, except by chance (64-bit SipHash with a seed per process). Tolerance is not
/// taken into account.
struct JSONDigests {
    let document: ParsedJSON
    private let rules: ComparisonRules
    private var digests: [Int]

    init(_ document: ParsedJSON, _ rules: ComparisonRules) {
        self.document = document
        self.rules = rules
        digests = Array(repeating: 0, count: document.tokenCount)
        _ = digest(document.root, rules.root)
    }

    subscript(node: JSONNode) -> Int { digests[node.index] }

    private mutating func digest(_ node: JSONNode, _ position: PathPosition) -> Int {
        var hasher = Hasher()
        if !rules.ignores(position) {
            hasher.combine(node.kind)
            hashContent(of: node, position, into: &hasher)
        }
        let digest = hasher.finalize()
        digests[node.index] = digest
        return digest
    }

    private mutating func hashContent(of node: JSONNode, _ position: PathPosition, into hasher: inout Hasher) {
        switch node.kind {
        case .object:
            // If a name repeats, the last member counts, as in lookups.
            var members: [MemberName: Int] = [:]
            for (name, value) in node.members {
                let position = position.member(name)
                if !rules.ignores(position) { members[MemberName(name)] = digest(value, position) }
            }
            hasher.combine(members)
        case .array:
            var elements = node.elements.enumerated().map { digest($1, position.element($0)) }
            if rules.order(at: position) == .set { elements.sort() }
            hasher.combine(elements)
        case _ where rules.comparesTypesOnly: break
        case .string: hasher.combine(contentsOf: node.string.map { Array($0.utf8) } ?? [])
        case .number: hasher.combine(node.numberText.map(JSONDecimal.init))
        case .bool: hasher.combine(node.bool)
        case .null: break
        }
    }
}

/// A member's name, compared by its bytes, because `String` also considers canonically equivalent names equal.
struct MemberName: Hashable {
    private let bytes: [UInt8]

    init(_ name: String) {
        bytes = Array(name.utf8)
    }
}

extension Hasher {
    fileprivate mutating func combine(contentsOf bytes: [UInt8]) {
        bytes.withUnsafeBytes { combine(bytes: $0) }
    }
}

extension ComparisonRules {
    /// The position of the root. Its paths are the ignored ones, followed by those of arrays.
    var root: PathPosition { PathPosition(ignoredPaths + arrays.map(\.path)) }

    /// Returns whether a value is ignored.
    func ignores(_ position: PathPosition) -> Bool {
        !ignoredPaths.isEmpty && position.first(in: ignoredPaths.indices) != nil
    }

    /// Returns how the elements of an array are matched; `nil` if in order.
    func order(at position: PathPosition) -> ArrayOrder? {
        guard !arrays.isEmpty else { return nil }
        let range = ignoredPaths.count..<ignoredPaths.count + arrays.count
        return position.first(in: range).map { arrays[$0 - ignoredPaths.count].order }
    }
}
