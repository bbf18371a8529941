/// Writes JSON text member by member, in the order in which they come.
package struct JSONOutput: Sendable {
    /// What was written.
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// An object of what `members` writes, each behind its `name`.
    package mutating func object(_ members: (inout JSONOutput) -> Void) { container("{", "}", members) }

    /// An array of what `elements` writes.
    package mutating func array(_ elements: (inout JSONOutput) -> Void) { container("[", "]", elements) }

    /// The name of the member whose value comes next.
    package mutating func name(_ name: String) {
        separate()
        JSONText.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    package mutating func string(_ text: String) {
        separate()
        JSONText.append(text, to: &bytes)
    }

    package mutating func integer(_ number: some BinaryInteger) { raw("\(number)".utf8) }

    package mutating func bool(_ value: Bool) { raw((value ? "true" : "false").utf8) }

    package mutating func null() { raw("null".utf8) }

    /// A value that is JSON text already.
    package mutating func raw(_ json: some Sequence<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
    }

    package mutating func member(_ name: String, _ text: String) {
        self.name(name)
        string(text)
    }

    package mutating func member(_ name: String, _ number: some BinaryInteger) {
        self.name(name)
        integer(number)
    }

    package mutating func member(_ name: String, _ value: Bool) {
        self.name(name)
        bool(value)
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func container(
        _ start: Unicode.Scalar,
        _ end: Unicode.Scalar,
        _ content: (inout JSONOutput) -> Void
    ) {
        separate()
        bytes.append(UInt8(ascii: start))
        needsComma = false
        content(&self)
        bytes.append(UInt8(ascii: end))
        needsComma = true
    }
}
