import BeagleNet
import BeagleNetHTTP

/// A comparison of two JSON texts, in almost linear time, with the depth limit of `ParsedJSON`.
struct JSONComparison {
    /// The current place of a comparison.
    struct Place {
        var position: PathPosition
        var text: String
        /// Whether the place is inside a member with a secret name.
        var isSecret: Bool

        func member(_ name: String, isSecret: Bool) -> Place {
            let isPlain =
                !name.isEmpty
                && name.utf8.allSatisfy { byte in
                    byte >= 0x80 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
                        || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
                }
            return Place(
                position: position.member(name),
                text: text + (isPlain ? ".\(name)" : "['\(name)']"),
                isSecret: self.isSecret || isSecret
            )
        }

        func element(_ index: Int, _ label: String) -> Place {
            Place(position: position.element(index), text: "\(text)[\(label)]", isSecret: isSecret)
        }
    }

    let rules: ComparisonRules
    let before: JSONDigests
    let after: JSONDigests
    private let shown: ReportFormatter
    private var found: ComparisonRules.Differences

    /// Returns the differences between two JSON texts.
    static func differences(_ before: ParsedJSON, _ after: ParsedJSON, _ rules: ComparisonRules)
        -> ComparisonRules.Differences
    {
        var found = ComparisonRules.Differences(limit: rules.limit)
        compare(before, after, rules, into: &found)
        return found
    }

    /// Adds the differences between two JSON texts.
    static func compare(
        _ before: ParsedJSON,
        _ after: ParsedJSON,
        _ rules: ComparisonRules,
        into found: inout ComparisonRules.Differences
    ) {
        var comparison = JSONComparison(JSONDigests(before, rules), JSONDigests(after, rules), rules, found)
        let place = Place(position: rules.root, text: "$", isSecret: false)
        comparison.compare(before.root, after.root, at: place)
        found = comparison.found
    }

    private init(
        _ before: JSONDigests,
        _ after: JSONDigests,
        _ rules: ComparisonRules,
        _ found: ComparisonRules.Differences
    ) {
        self.rules = rules
        self.before = before
        self.after = after
        self.found = found
        shown = ReportFormatter(redactor: rules.redactor)
    }

    private mutating func compare(_ one: JSONNode, _ other: JSONNode, at place: Place) {
        guard before[one] != after[other], one.string != Redactor.placeholder else { return }
        guard one.kind == other.kind else { return add(.type, one, other, at: place) }
        switch one.kind {
        case .object: compareObjects(one, other, at: place)
        case .array: compareArrays(one, other, at: place)
        case _ where isSame(one, other): break
        default: add(.changed, one, other, at: place)
        }
    }

    /// Returns whether two scalars of the same type count as equal although they are written differently.
    private func isSame(_ one: JSONNode, _ other: JSONNode) -> Bool {
        if rules.comparesTypesOnly { return true }
        switch one.kind {
        case .string: return Placeholder.matches(one.string ?? "", other.string ?? "")
        case .number:
            guard rules.tolerance > 0, let one = one.number, let other = other.number else { return false }
            return abs(one - other) <= rules.tolerance * max(1, abs(one), abs(other))
        default: return false
        }
    }

    private mutating func add(
        _ kind: ComparisonRules.Difference.Kind,
        _ one: JSONNode?,
        _ other: JSONNode?,
        at place: Place
    ) {
        let shown = shown
        found.append(
            ComparisonRules.Difference(
                kind,
                at: place.text,
                before: one.map { shown.json($0, isSecret: place.isSecret) },
                after: other.map { shown.json($0, isSecret: place.isSecret) }
            )
        )
    }
}

// MARK: - Objects

extension JSONComparison {
    private mutating func compareObjects(_ one: JSONNode, _ other: JSONNode, at place: Place) {
        let names = (ComponentName(one), ComponentName(other))
        guard names.0 == names.1 else {
            let shown = shown
            func text(_ name: ComponentName?, _ node: JSONNode) -> String {
                name.map { shown.text($0.text) } ?? shown.json(node, isSecret: place.isSecret)
            }
            return found.append(
                ComparisonRules.Difference(
                    .changed,
                    at: place.text,
                    before: text(names.0, one),
                    after: text(names.1, other)
                )
            )
        }
        let (mine, theirs) = (members(of: one), members(of: other))
        for member in mine.list {
            let place = self.place(of: member, below: place)
            guard !rules.ignores(place.position) else { continue }
            if let partner = theirs.byName[MemberName(member.name)] {
                compare(member.value, partner, at: place)
            } else {
                add(.removed, member.value, nil, at: place)
            }
        }
        for member in theirs.list where mine.byName[MemberName(member.name)] == nil {
            let place = self.place(of: member, below: place)
            if !rules.ignores(place.position) { add(.added, nil, member.value, at: place) }
        }
    }

    private func place(of member: (name: String, value: JSONNode), below place: Place) -> Place {
        place.member(member.name, isSecret: shown.isSecret(member.name, member.value))
    }

    /// Returns the members of an object. If a name repeats, only the last member counts.
    private func members(
        of node: JSONNode
    ) -> (list: [(name: String, value: JSONNode)], byName: [MemberName: JSONNode]) {
        var list = Array(node.members)
        let byName = Dictionary(list.map { (MemberName($0.name), $0.value) }) { $1 }
        if byName.count < list.count {
            list.removeAll { byName[MemberName($0.name)]?.index != $0.value.index }
        }
        return (list, byName)
    }
}

// MARK: - Arrays

extension JSONComparison {
    private mutating func compareArrays(_ one: JSONNode, _ other: JSONNode, at place: Place) {
        let (mine, theirs) = (Array(one.elements), Array(other.elements))
        let digests = (mine.map { before[$0] }, theirs.map { after[$0] })
        switch rules.order(at: place.position) {
        case .set where !rules.comparesTypesOnly:
            compareSets(mine, theirs, Alignment([(digests.0, digests.1)]), at: place)
        case .key(let name):
            let keys = (mine.map { $0[name] }, theirs.map { $0[name] })
            let labels = (
                keys.0.enumerated().map { label($1, name, $0) }, keys.1.enumerated().map { label($1, name, $0) }
            )
            let alignment = Alignment([(keys.0.map { $0.map { before[$0] } }, keys.1.map { $0.map { after[$0] } })])
            compare(mine, theirs, alignment, labels, at: place)
        default:
            let names = (mine.map(ComponentName.init), theirs.map(ComponentName.init))
            let isTree = names.0.contains { $0 != nil } && names.1.contains { $0 != nil }
            guard isTree else {
                let alignment =
                    rules.comparesTypesOnly || (rules.tolerance > 0 && mine.count == theirs.count)
                    ? Alignment(counts: mine.count, theirs.count) : Alignment(inOrder: digests.0, digests.1)
                let labels = (mine.indices.map(String.init), theirs.indices.map(String.init))
                return compare(mine, theirs, alignment, labels, at: place)
            }
            let alignment = ComponentKey.alignment(names, digests)
            compare(mine, theirs, alignment, (labels(names.0), labels(names.1)), at: place)
        }
    }

    private mutating func compare(
        _ mine: [JSONNode],
        _ theirs: [JSONNode],
        _ alignment: Alignment,
        _ labels: (mine: [String], theirs: [String]),
        at place: Place
    ) {
        for (index, partner) in alignment.partners.enumerated() {
            let place = place.element(index, labels.mine[index])
            guard !rules.ignores(place.position) else { continue }
            if let partner {
                if alignment.moved.contains(index) {
                    found.append(
                        ComparisonRules.Difference(.moved, at: place.text, before: "[\(index)]", after: "[\(partner)]")
                    )
                }
                compare(mine[index], theirs[partner], at: place)
            } else if !rules.comparesTypesOnly {
                add(.removed, mine[index], nil, at: place)
            }
        }
        for index in alignment.added where !rules.comparesTypesOnly {
            let place = place.element(index, labels.theirs[index])
            if !rules.ignores(place.position) { add(.added, nil, theirs[index], at: place) }
        }
    }

    /// Compares elements of a set that have no exact equal. They may still match according to the rules.
    private mutating func compareSets(
        _ mine: [JSONNode],
        _ theirs: [JSONNode],
        _ alignment: Alignment,
        at place: Place
    ) {
        var others = alignment.added
        for (index, partner) in alignment.partners.enumerated() where partner == nil {
            let here = place.element(index, String(index))
            guard !rules.ignores(here.position) else { continue }
            // A limit avoids quadratic time.
            let partner = others.prefix(Self.maxSetCandidates).firstIndex { other in
                var trial = JSONComparison(before, after, rules, ComparisonRules.Differences(limit: 0))
                trial.compare(mine[index], theirs[other], at: here)
                return trial.found.isEmpty
            }
            if let partner { others.remove(at: partner) } else { add(.removed, mine[index], nil, at: here) }
        }
        for index in others {
            let place = place.element(index, String(index))
            if !rules.ignores(place.position) { add(.added, nil, theirs[index], at: place) }
        }
    }

    /// The maximum number of elements with which an element of a set is compared.
    private static let maxSetCandidates = 64

    /// Returns a label such as `id=7`, or the index if the key is missing or secret.
    private func label(_ key: JSONNode?, _ name: String, _ index: Int) -> String {
        guard let key, !shown.isSecret(name, key) else { return String(index) }
        return "\(name)=\(key.string.map { shown.text($0) } ?? shown.json(key, isSecret: false))"
    }

    /// Returns labels such as `text#title`, or `text(2)` for the second component with the same name.
    private func labels(_ names: [ComponentName?]) -> [String] {
        var counts: [String: Int] = [:]
        return names.enumerated().map { index, name in
            guard let text = name.map({ shown.text($0.text) }) else { return String(index) }
            counts[text, default: 0] += 1
            return counts[text] == 1 ? text : "\(text)(\(counts[text] ?? 0))"
        }
    }
}

/// The key by which components are matched.
///
/// Components without an `id` are first matched by their whole contents, then all by type and `id`. Other values are
/// matched in order.
private enum ComponentKey: Hashable {
    case whole(Int), named(ComponentName), other

    static func alignment(_ names: ([ComponentName?], [ComponentName?]), _ digests: ([Int], [Int])) -> Alignment {
        Alignment([
            (whole(names.0, digests.0), whole(names.1, digests.1)), (names.0.map(named), names.1.map(named)),
        ])
    }

    private static func whole(_ names: [ComponentName?], _ digests: [Int]) -> [ComponentKey?] {
        zip(names, digests).map { name, digest in name?.id == nil ? .whole(digest) : nil }
    }

    private static func named(_ name: ComponentName?) -> ComponentKey? { name.map { .named($0) } ?? .other }
}
