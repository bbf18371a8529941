import BeagleNetHTTP

/// The line, column and path of a position in a JSON text, for error messages.
struct JSONPlace {
    /// The line, from 1.
    let line: Int
    /// The number of the byte in its line, from 1.
    let column: Int
    /// The path of the value that contains the position, such as `$.child.children[2]`. Its middle is left out if it is
    /// long.
    let path: String

    private enum Step {
        case name(JSONSpan)
        case index(Int)
    }

    /// Finds a position in a text that is valid up to there.
    init(of offset: Int, in bytes: UnsafeBufferPointer<UInt8>) {
        let before = UnsafeBufferPointer(rebasing: bytes[..<offset])
        line = before.reduce(1) { $1 == 0x0A ? $0 + 1 : $0 }
        column = offset - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
        path = Self.text(Self.steps(to: offset, in: before), before)
    }

    private static func steps(to offset: Int, in bytes: UnsafeBufferPointer<UInt8>) -> [Step] {
        var cursor = JSONCursor(bytes)
        var steps: [Step] = []
        cursor.skipByteOrderMark()
        var expectsName = false
        do throws(JSONFault) {
            while true {
                switch cursor.peek() {
                case UInt8(ascii: "{"):
                    steps.append(.name(.none))
                    expectsName = true
                    cursor.index += 1
                case UInt8(ascii: "["):
                    steps.append(.index(0))
                    cursor.index += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    if steps.popLast() == nil { return [] }
                    expectsName = false
                    cursor.index += 1
                case UInt8(ascii: ","):
                    cursor.index += 1
                    if case .index(let index)? = steps.last { steps[steps.count - 1] = .index(index + 1) }
                    if case .name? = steps.last { expectsName = true }
                case UInt8(ascii: "\"") where expectsName:
                    steps[steps.count - 1] = .name(try cursor.name())
                    expectsName = false
                case UInt8(ascii: "\""): _ = try cursor.string()
                default: _ = try cursor.scalar()
                }
            }
        } catch {
            // The text ends here, in the value whose path this is.
            return steps
        }
    }

    private static func text(_ steps: [Step], _ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let kept = steps.count <= 16 ? steps[...] : steps.prefix(8) + steps.suffix(8)
        var path = "$"
        for (place, step) in kept.enumerated() {
            if place == 8, steps.count > 16 { path += "…" }
            switch step {
            case .index(let index): path += "[\(index)]"
            case .name(let name) where name.isPresent: path += ".\(name.text(in: bytes).prefix(40))"
            case .name: break
            }
        }
        return path
    }
}

extension JSONFault {
    /// Returns the error of a text that isn't valid JSON, with the line, column and path of the fault.
    func screenError(in bytes: UnsafeBufferPointer<UInt8>) -> NetworkError {
        let place = JSONPlace(of: offset, in: bytes)
        return NetworkError(
            .decoding,
            during: .decode,
            "invalid JSON at line \(place.line), column \(place.column) (\(place.path)): \(reason)"
        )
    }
}
