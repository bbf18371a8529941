import BeagleNet
import BeagleNetHTTP

/// A number for each value of a document, the same for values that the rules take for the same: made in one walk.
///
/// The other way round it holds but for chance: SipHash with a seed of the process's own, 64 bits. Tolerance does not
/// count here.
struct JSONDigests {
    let document: JSONDocument
    private let rules: ComparisonRules
    private var digests: [Int]

    init(_ document: JSONDocument, _ rules: ComparisonRules) {
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
            // Of a name that repeats the last counts, as when members are looked up.
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

/// A name by its bytes: `String` takes letters that only look the same for one.
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
    /// Where documents begin: ignored paths first, then those of arrays.
    var root: PathPosition { PathPosition(ignoredPaths + arrays.map(\.path)) }

    /// Whether a value is passed over.
    func ignores(_ position: PathPosition) -> Bool {
        !ignoredPaths.isEmpty && position.first(in: ignoredPaths.indices) != nil
    }

    /// How the elements of the array at a place are matched; nil where in order.
    func order(at position: PathPosition) -> ArrayOrder? {
        guard !arrays.isEmpty else { return nil }
        let range = ignoredPaths.count..<ignoredPaths.count + arrays.count
        return position.first(in: range).map { arrays[$0 - ignoredPaths.count].order }
    }
}
