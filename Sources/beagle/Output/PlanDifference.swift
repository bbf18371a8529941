import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// The references that only one of two screens has, by kind, method and URL, and those of both whose details differ.
struct PlanDifference {
    private struct Key: Hashable {
        let kind: String
        let target: String

        init(_ reference: ScreenPlan.Reference) {
            kind = reference.kind.rawValue
            target = reference.target
        }
    }

    /// A reference of both screens, and the names of the details that differ.
    private struct Change {
        let reference: ScreenPlan.Reference
        let names: [String]
        /// The sizes of an image, if they differ.
        let bytes: (old: Int, new: Int)?

        var json: JSONValue {
            guard case .object(var members) = reference.json else { return reference.json }
            members["differs"] = .array(names.map { .string($0) })
            members["bytes"] = bytes.map { ["old": .integer(Int64($0.old)), "new": .integer(Int64($0.new))] }
            return .object(members)
        }

        /// The names, with the sizes of an image.
        var text: String {
            let sizes = bytes.map { " \(byteCount(Int64($0.old))) -> \(byteCount(Int64($0.new)))" } ?? ""
            return names.joined(separator: ", ") + sizes
        }
    }

    private let removed: [ScreenPlan.Reference]
    private let added: [ScreenPlan.Reference]
    private let changed: [Change]
    /// The number of references that weren't compared.
    private let omitted: Int
    private let sizes: ImageSizes

    init(from old: ScreenPlan, to new: ScreenPlan, _ sizes: ImageSizes) {
        self.sizes = sizes
        removed = Self.references(of: old, notIn: new)
        added = Self.references(of: new, notIn: old)
        changed = Self.changes(from: old, to: new, sizes)
        omitted = old.omittedCount + new.omittedCount
    }

    /// Returns the references that another plan doesn't have, each once, in order.
    private static func references(of plan: ScreenPlan, notIn other: ScreenPlan) -> [ScreenPlan.Reference] {
        var known = Set(other.references.map(Key.init))
        return plan.references.filter { known.insert(Key($0)).inserted }
    }

    /// Returns the references of the new plan whose details no reference to the same target has in the old one.
    /// An image whose size differs is listed once.
    private static func changes(from old: ScreenPlan, to new: ScreenPlan, _ sizes: ImageSizes) -> [Change] {
        let details = Dictionary(grouping: old.references, by: Key.init).mapValues { $0.map(\.details) }
        var resized = sizes.changed
        return new.references.compactMap { reference in
            let now = reference.details
            guard let before = details[Key(reference)], let first = before.first else { return nil }
            let isSame = before.contains(now)
            var names = isSame ? [] : ScreenPlan.Reference.detailNames.filter { first[$0] != now[$0] }
            let bytes = reference.kind == .image ? resized.removeValue(forKey: reference.bestURL) : nil
            if bytes != nil { names.append("bytes") }
            return isSame && bytes == nil ? nil : Change(reference: reference, names: names, bytes: bytes)
        }
    }

    /// - Throws: `Failure` with the exit code 104 if there are differences.
    func result(on console: Console) throws -> CommandResult {
        let note = notes
        guard !removed.isEmpty || !added.isEmpty || !changed.isEmpty else {
            return CommandResult(json: json, note: note)
        }
        var failure = Failure(
            exit: ExitCode.different,
            code: "different",
            phase: .response,
            "the screens need different things from the network: removed \(removed.count), added \(added.count), "
                + "changed \(changed.count)"
        )
        let lines = lines("-", removed, .red, console) + lines("+", added, .green, console) + changeLines(console)
        failure.output = Data(lines.map { "\($0)\n" }.joined().utf8)
        if case .object(let members) = json { failure.details = members }
        failure.advice = note
        throw failure
    }

    private var notes: String? {
        let omission = omitted > 0 ? "beagle: the screens have too many references; not compared: \(omitted)" : nil
        let notes = [omission, sizes.note].compactMap(\.self)
        return notes.isEmpty ? nil : notes.joined(separator: "\n")
    }

    private var kindWidth: Int {
        (removed + added + changed.map(\.reference)).map(\.kind.rawValue.count).max() ?? 0
    }

    private func lines(_ mark: String, _ references: [ScreenPlan.Reference], _ style: Style, _ console: Console)
        -> [String]
    {
        references.map { reference in
            let kind = reference.kind.rawValue
            let padding = String(repeating: " ", count: kindWidth - kind.count)
            return "\(console.styled("\(mark) \(kind)", style))\(padding)  \(reference.shortTarget)"
        }
    }

    private func changeLines(_ console: Console) -> [String] {
        zip(lines("~", changed.map(\.reference), .yellow, console), changed).map { line, change in
            "\(line): \(change.text)"
        }
    }

    private var json: JSONValue {
        [
            "removed": .array(removed.map(\.json)), "added": .array(added.map(\.json)),
            "changed": .array(changed.map(\.json)),
            "omitted": .integer(Int64(omitted)),
        ]
    }
}

extension ScreenPlan.Reference {
    /// The members of `json` that describe how and when a request is sent.
    fileprivate static let detailNames = ["when", "events", "headers", "body", "fields", "obstacle"]

    fileprivate var details: [String: JSONValue] {
        guard case .object(let members) = json else { return [:] }
        return members.filter { Self.detailNames.contains($0.key) }
    }
}
