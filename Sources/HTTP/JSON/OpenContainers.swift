/// The types of the open containers of a JSON text, as bits: 1 for an object.
struct OpenContainers: Sendable {
    private(set) var count = 0
    /// The innermost containers, the last one in the lowest bit.
    private var bits: UInt64 = 0
    /// The bits of the containers that don't fit into `bits`, in groups of 64.
    private var outer: [UInt64] = []

    /// Whether the innermost container is an object.
    var isObject: Bool { bits & 1 == 1 }

    mutating func append(isObject: Bool) {
        if count > 0, count & 63 == 0 { outer.append(bits) }
        bits = bits << 1 | (isObject ? 1 : 0)
        count &+= 1
    }

    mutating func removeLast() {
        bits >>= 1
        count &-= 1
        if count & 63 == 0, let last = outer.popLast() { bits = last }
    }
}
