/// The types of the open containers of a JSON text, as bits: 1 for an object.
package struct OpenContainers: Sendable {
    package var count = 0
    /// The innermost containers, the last one in the lowest bit.
    @usableFromInline var bits: UInt64 = 0
    /// The bits of the containers that don't fit into `bits`, in groups of 64.
    @usableFromInline var outer: [UInt64] = []

    @inlinable package init() {}

    /// Whether the innermost container is an object.
    @inlinable package var isObject: Bool { bits & 1 == 1 }

    @inlinable
    package mutating func append(isObject: Bool) {
        if count > 0, count & 63 == 0 { outer.append(bits) }
        bits = bits << 1 | (isObject ? 1 : 0)
        count &+= 1
    }

    @inlinable
    package mutating func removeLast() {
        bits >>= 1
        count &-= 1
        if count & 63 == 0, let last = outer.popLast() { bits = last }
    }
}
