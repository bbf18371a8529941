/// The paths to the references of a document, as steps that paths with the same beginning share.
struct ScreenPaths: Sendable {
    private struct Step {
        /// The step before this one, and in the lowest bits whether this is a name and whether an action begins here.
        private let bits: UInt32
        /// The position of a member's name, or the index of an element.
        let place: UInt32

        init(parent: Int32, place: UInt32, isName: Bool, isAction: Bool) {
            bits = UInt32(parent) << 2 | (isName ? 2 : 0) | (isAction ? 1 : 0)
            self.place = place
        }

        var parent: Int32 { Int32(bits >> 2) }
        var isName: Bool { bits & 2 != 0 }
        var isAction: Bool { bits & 1 != 0 }
    }

    private var steps: ContiguousArray<Step> = [Step(parent: 0, place: 0, isName: false, isAction: false)]

    /// The path of the outermost value.
    static let root: Int32 = 0

    /// Adds a step, and returns the path with it.
    mutating func append(to parent: Int32, _ place: UInt32, isName: Bool, isAction: Bool) -> Int32 {
        steps.append(Step(parent: parent, place: place, isName: isName, isAction: isAction))
        return Int32(truncatingIfNeeded: steps.count - 1)
    }

    /// Returns the steps from the first to the last.
    private func steps(of path: Int32) -> [Step] {
        var (found, place) = ([Step](), path)
        while place != Self.root {
            found.append(steps[Int(place)])
            place = steps[Int(place)].parent
        }
        return found.reversed()
    }

    /// Returns a path as a JSON pointer (RFC 6901).
    func pointer(_ path: Int32, in bytes: UnsafeBufferPointer<UInt8>) -> String {
        var pointer = ""
        for step in steps(of: path) {
            pointer += "/"
            guard step.isName else {
                pointer += "\(step.place)"
                continue
            }
            for scalar in Self.name(at: step.place, in: bytes).unicodeScalars {
                switch scalar {
                case "~": pointer += "~0"
                case "/": pointer += "~1"
                default: pointer.unicodeScalars.append(scalar)
                }
            }
        }
        return pointer
    }

    /// Returns the members that hold the actions which lead to a path, from the first to the last.
    func events(_ path: Int32, in bytes: UnsafeBufferPointer<UInt8>) -> [String] {
        var (events, name) = ([String](), UInt32?.none)
        for step in steps(of: path) {
            if step.isName { name = step.place }
            if step.isAction, let name { events.append(Self.name(at: name, in: bytes)) }
        }
        return events
    }

    /// Returns the name that begins here. The walk has checked it.
    static func name(at place: UInt32, in bytes: UnsafeBufferPointer<UInt8>) -> String {
        var cursor = JSONCursor(bytes, at: Int(place) - 1)
        do { return try cursor.string().text(in: bytes) } catch { return "" }
    }
}
