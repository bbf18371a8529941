import BeagleNetHTTP

extension JSONCursor {
    /// Checks the value that begins here and skips it, whatever its depth.
    ///
    /// - Parameter depth: The number of containers around the value.
    /// - Returns: The range of the value.
    mutating func skipValue(depth: Int = 0) throws(JSONFault) -> JSONSpan {
        _ = peek()
        let start = index
        var open = OpenContainers()
        repeat {
            try beginValue(&open, depth: depth)
            while open.count > 0 {
                let byte = peek()
                if byte == UInt8(ascii: ",") {
                    index &+= 1
                    if open.isObject { _ = try name() }
                    break
                }
                guard byte == (open.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    throw unfinished(open.isObject)
                }
                index &+= 1
                open.removeLast()
            }
        } while open.count > 0
        return JSONSpan(start, index)
    }

    /// Reads a value up to the first scalar or empty container in it.
    @inline(__always)
    private mutating func beginValue(_ open: inout OpenContainers, depth: Int) throws(JSONFault) {
        while true {
            switch peek() {
            case UInt8(ascii: "\""): return _ = try string()
            case UInt8(ascii: "{"):
                if try open.append(isObject: true, depth, &self) { return }
                _ = try name()
            case UInt8(ascii: "["):
                if try open.append(isObject: false, depth, &self) { return }
            default: return _ = try scalar()
            }
        }
    }

    /// Returns the fault of a container in which neither a comma nor its end follows a value.
    func unfinished(_ isObject: Bool) -> JSONFault {
        fault(isObject ? "expected a comma or the end of the object" : "expected a comma or the end of the array")
    }

    func checkDepth(_ depth: Int) throws(JSONFault) {
        guard depth >= Self.depthLimit else { return }
        throw JSONFault(offset: index, reason: "nested more than \(Self.depthLimit) levels deep")
    }

    /// Skips the container that begins here if it is empty, or else only its opening bracket.
    @inline(__always)
    mutating func openContainer(_ isObject: Bool) -> Bool {
        index &+= 1
        guard peek() == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { return false }
        index &+= 1
        return true
    }
}

/// The types of open containers as bits, 1 for an object. The innermost container is the lowest bit of `bits`.
private struct OpenContainers {
    private(set) var count = 0
    private var bits: UInt64 = 0
    /// The bits of the containers that don't fit into `bits`, in groups of 64.
    private var outer: [UInt64] = []

    @inline(__always) var isObject: Bool { bits & 1 == 1 }

    /// Enters the container that begins at the cursor, and returns whether it is empty and was skipped.
    @inline(__always)
    mutating func append(isObject: Bool, _ depth: Int, _ cursor: inout JSONCursor) throws(JSONFault) -> Bool {
        try cursor.checkDepth(depth + count)
        if cursor.openContainer(isObject) { return true }
        if count > 0, count & 63 == 0 { outer.append(bits) }
        bits = bits << 1 | (isObject ? 1 : 0)
        count &+= 1
        return false
    }

    @inline(__always)
    mutating func removeLast() {
        bits >>= 1
        count &-= 1
        if count & 63 == 0, let last = outer.popLast() { bits = last }
    }
}
