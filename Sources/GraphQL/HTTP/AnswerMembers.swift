import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The members of an answer and of its data, found in one pass that sees to it that all has the grammar of JSON. Whether text is
/// UTF-8, who makes values finds out.
struct AnswerMembers {
    enum Kind { case object, null, other }

    struct Member {
        let kind: Kind
        /// Where the value is, from the first byte of the body.
        let range: Range<Int>
        /// Where `tape` has it.
        let index: Int

        fileprivate init(_ tape: JSONTape, _ index: Int) {
            kind = tape.isObject(index) ? .object : tape.isNull(index) ? .null : .other
            range = tape.range(of: index)
            self.index = index
        }
    }

    /// What stands in the text: all of it, or the outermost object and the members of its members.
    let tape: JSONTape

    /// Bytes up to which all of a text may be kept, so that it is not read again: that takes up to fourteen times as much memory.
    private static let longestWhole = 64 << 10

    /// - Parameter isRead: whether a value is to be made of it.
    /// - Throws: `JSONFault` where it is no JSON.
    init(_ data: Data, isRead: Bool = false) throws(JSONFault) {
        tape = try JSONTape(data, depth: isRead && data.count <= Self.longestWhole ? .max : 2)
    }

    var isObject: Bool { tape.isObject(0) }

    /// The last of this name, as decoders take it.
    subscript(name: String) -> Member? { isObject ? member(name, of: 0) : nil }

    /// Those of an answer: its errors, data and extensions.
    var ofAnswer: (errors: Member?, data: Member?, extensions: Member?) {
        let (errors, data, extensions) = tape.lastMembers(("errors", "data", "extensions"), of: 0)
        return (
            errors.map { Member(tape, $0) }, data.map { Member(tape, $0) }, extensions.map { Member(tape, $0) }
        )
    }

    /// A member of an object.
    func member(_ name: String, of object: Int) -> Member? {
        tape.lastMember(name, of: object).map { Member(tape, $0) }
    }

    /// All of them, in their order; none where the text is no object.
    var all: [(name: String, member: Member)] { isObject ? members(of: 0) : [] }

    /// The members of `data`; none where that is no object.
    var ofData: [(name: String, member: Member)] {
        guard let data = self["data"], data.kind == .object else { return [] }
        return members(of: data.index)
    }

    private func members(of object: Int) -> [(name: String, member: Member)] {
        tape.children(of: object).map { (tape.repairedString(at: $0), Member(tape, $0 + 1)) }
    }
}
