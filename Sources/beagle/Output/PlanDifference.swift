import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// The references that only one of two screens has, by kind, method and URL.
struct PlanDifference {
    private struct Key: Hashable {
        let kind: String
        let target: String

        init(_ reference: ScreenReference) {
            kind = reference.kind.rawValue
            target = reference.target
        }
    }

    private let removed: [ScreenReference]
    private let added: [ScreenReference]
    /// The number of references that weren't compared.
    private let omitted: Int

    init(from old: ScreenPlan, to new: ScreenPlan) {
        removed = Self.references(of: old, notIn: new)
        added = Self.references(of: new, notIn: old)
        omitted = old.omittedCount + new.omittedCount
    }

    /// Returns the references that another plan doesn't have, each once, in order.
    private static func references(of plan: ScreenPlan, notIn other: ScreenPlan) -> [ScreenReference] {
        var known = Set(other.references.map(Key.init))
        return plan.references.filter { known.insert(Key($0)).inserted }
    }

    /// - Throws: `Failure` with the exit code 104 if there are differences.
    func result(on console: Console) throws -> CommandResult {
        let note = omitted > 0 ? "beagle: the screens have too many references; not compared: \(omitted)" : nil
        guard !removed.isEmpty || !added.isEmpty else { return CommandResult(json: json, note: note) }
        var failure = Failure(
            exit: ExitCode.different,
            code: "different",
            phase: .response,
            "the screens need different things from the network: removed \(removed.count), added \(added.count)"
        )
        let lines = lines("-", removed, .red, console) + lines("+", added, .green, console)
        failure.output = Data(lines.map { "\($0)\n" }.joined().utf8)
        if case .object(let members) = json { failure.details = members }
        failure.advice = note
        throw failure
    }

    private func lines(_ mark: String, _ references: [ScreenReference], _ style: Style, _ console: Console) -> [String]
    {
        let width = (removed + added).map(\.kind.rawValue.count).max() ?? 0
        return references.map { reference in
            let kind = reference.kind.rawValue
            let padding = String(repeating: " ", count: width - kind.count)
            return "\(console.styled("\(mark) \(kind)", style))\(padding)  \(reference.target.printable)"
        }
    }

    private var json: JSONValue {
        [
            "removed": .array(removed.map(\.json)), "added": .array(added.map(\.json)),
            "omitted": .integer(Int64(omitted)),
        ]
    }
}
