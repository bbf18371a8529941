import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The members of a response body and of its `data`, located in one pass that also checks the JSON grammar. Whether
/// strings are valid UTF-8 is checked later, when values are decoded.
struct TopLevelMembers {
    enum Kind { case object, null, other }

    struct Member {
        let kind: Kind
        /// The range of the value in the body.
        let range: Range<Int>
        /// The index of the value in `tape`.
        let index: Int

        fileprivate init(_ tape: JSONTape, _ index: Int) {
            kind = tape.isObject(index) ? .object : tape.isNull(index) ? .null : .other
            range = tape.range(of: index)
            self.index = index
        }
    }

    /// The JSON elements: all of them, or only the outermost object and the members of its members.
    let tape: JSONTape

    /// The maximum length of a body that is indexed completely, in bytes, so that decoding need not read it again. The
    /// index takes up to fourteen times the memory of the body.
    private static let maxFullyIndexedBytes = 64 << 10

    /// Indexes a response body.
    ///
    /// - Parameter willDecode: Whether a value will be decoded from the body.
    /// - Throws: `JSONFault` if the body is not JSON.
    init(_ data: Data, willDecode: Bool = false) throws(JSONFault) {
        tape = try JSONTape(data, depth: willDecode && data.count <= Self.maxFullyIndexedBytes ? .max : 2)
    }

    var isObject: Bool { tape.isObject(0) }

    /// The last member with this name, which is the one that decoders use.
    subscript(name: String) -> Member? { isObject ? member(name, of: 0) : nil }

    /// The errors, data and extensions of the response.
    var responseMembers: (errors: Member?, data: Member?, extensions: Member?) {
        let (errors, data, extensions) = tape.lastMembers(("errors", "data", "extensions"), of: 0)
        return (
            errors.map { Member(tape, $0) }, data.map { Member(tape, $0) }, extensions.map { Member(tape, $0) }
        )
    }

    /// Returns a member of an object.
    func member(_ name: String, of object: Int) -> Member? {
        tape.lastMember(name, of: object).map { Member(tape, $0) }
    }

    /// All members in order; empty if the body is not an object.
    var all: [(name: String, member: Member)] { isObject ? members(of: 0) : [] }

    /// The members of `data`; empty if it is not an object.
    var dataMembers: [(name: String, member: Member)] {
        guard let data = self["data"], data.kind == .object else { return [] }
        return members(of: data.index)
    }

    private func members(of object: Int) -> [(name: String, member: Member)] {
        tape.children(of: object).map { (tape.repairedString(at: $0), Member(tape, $0 + 1)) }
    }
}
