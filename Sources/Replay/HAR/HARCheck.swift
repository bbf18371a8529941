import BeagleNetHTTP

/// A checker of the rules of HAR 1.2 for one part of an archive.
struct HARCheck {
    /// The required type of a member.
    enum Rule {
        case text, date, dateOrNull, bool, object, objectOrNull, array
        /// A number, and whether it may be -1 for an unknown value.
        case number(orUnknown: Bool)
        /// An integer, and whether it may be -1 for an unknown value.
        case whole(orUnknown: Bool)
        /// An integer, which may be negative.
        case signed
    }

    struct Member {
        let name: String
        let rule: Rule
        var isRequired = true
    }

    let file: String
    let part: ArchivePart
    /// The recording that reads the files of bodies.
    let files: Recording
    let report: (Recording.Warning) -> Void

    init(
        file: String,
        part: ArchivePart,
        files: Recording = Recording([]),
        report: @escaping (Recording.Warning) -> Void
    ) {
        self.file = file
        self.part = part
        self.files = files
        self.report = report
    }

    func report(_ path: String, _ node: JSONNode, _ reason: String, _ severity: Recording.Warning.Severity = .error) {
        report(
            Recording.Warning(
                file: file,
                offset: part.offset + node.range.lowerBound,
                path: part.path + path,
                reason: reason,
                severity: severity
            )
        )
    }

    /// Checks that the part is valid UTF-8, which the JSON parser doesn't check.
    func encoding() {
        guard let offset = UTF8Text.fault(in: part.bytes) else { return }
        let reason = "is not UTF-8"
        report(Recording.Warning(file: file, offset: part.offset + offset, path: part.path, reason: reason))
    }

    /// Checks an object's members.
    ///
    /// - Returns: whether the value is an object.
    @discardableResult
    func object(_ path: String, _ node: JSONNode, _ members: [Member]) -> Bool {
        guard node.kind == .object else {
            report(path, node, "is \(node.kind.words), but should be an object")
            return false
        }
        for member in members {
            guard let value = node[member.name] else {
                if member.isRequired { report("\(path).\(member.name)", node, "is missing") }
                continue
            }
            check("\(path).\(member.name)", value, member.rule)
        }
        let known = Set(members.map(\.name) + ["comment"])
        var seen: Set<String> = []
        for (name, value) in node.members {
            if !seen.insert(name).inserted { report("\(path).\(name)", value, "occurs more than once") }
            if !known.contains(name), !name.isCustomMemberName {
                report(
                    "\(path).\(name)",
                    value,
                    "is not a member of HAR 1.2; names of custom members begin with an underscore",
                    .hint
                )
            }
        }
        if let comment = node["comment"] { check("\(path).comment", comment, .text) }
        return true
    }

    /// Checks each element of an array; ignores other values.
    func elements(_ path: String, _ node: JSONNode?, _ check: (_ path: String, _ node: JSONNode) -> Void) {
        guard let node, node.kind == .array else { return }
        for (index, element) in node.elements.enumerated() { check("\(path)[\(index)]", element) }
    }

    private func check(_ path: String, _ value: JSONNode, _ rule: Rule) {
        switch rule {
        case .text: expect(value.kind == .string, path, value, "a string")
        case .bool: expect(value.kind == .bool, path, value, "true or false")
        case .object: expect(value.kind == .object, path, value, "an object")
        case .objectOrNull: expect(value.kind == .object || value.isNull, path, value, "an object or null")
        case .array: expect(value.kind == .array, path, value, "an array")
        case .date: date(path, value)
        case .dateOrNull: if !value.isNull { date(path, value) }
        case .number(let orUnknown): number(path, value, isWhole: false, orUnknown)
        case .whole(let orUnknown): number(path, value, isWhole: true, orUnknown)
        case .signed: expect(value.integer != nil, path, value, "an integer")
        }
    }

    private func expect(_ isMet: Bool, _ path: String, _ value: JSONNode, _ what: String) {
        if !isMet { report(path, value, "is \(value.kind.words), but should be \(what)") }
    }

    private func date(_ path: String, _ value: JSONNode) {
        guard let text = value.string else { return expect(false, path, value, "a date and time") }
        guard Timestamp.date(text) != nil else {
            return report(path, value, "is not an ISO 8601 date and time, such as 2026-11-22T08:15:30.123Z")
        }
        let clock = text.utf8.dropFirst(11)
        if !clock.contains(where: { [UInt8(ascii: "Z"), UInt8(ascii: "+"), UInt8(ascii: "-")].contains($0) }) {
            report(path, value, "has no time zone")
        }
    }

    private func number(_ path: String, _ value: JSONNode, isWhole: Bool, _ orUnknown: Bool) {
        guard let number = value.number else { return expect(false, path, value, "a number") }
        if isWhole, value.integer == nil {
            return report(path, value, "is \(value.numberText ?? ""), but should be an integer")
        }
        guard number < 0, !(orUnknown && number == -1) else { return }
        let rule = orUnknown ? "-1 is the only negative value allowed" : "must not be negative"
        report(path, value, "is \(value.numberText ?? ""), but \(rule)")
    }
}

/// A UTF-8 validator.
private enum UTF8Text {
    /// Returns the offset of the first invalid byte; `nil` if all bytes are valid.
    static func fault(in bytes: [UInt8]) -> Int? {
        if String(validating: bytes, as: UTF8.self) != nil { return nil }
        var parser = UTF8.ForwardParser()
        var (rest, offset) = (bytes.makeIterator(), 0)
        while case .valid(let scalar) = parser.parseScalar(from: &rest) { offset += scalar.count }
        return offset
    }
}

extension JSONNode.Kind {
    /// The name of the type for messages.
    fileprivate var words: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .bool: "true or false"
        case .null: "null"
        }
    }
}
