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
                if try openContainer(true, in: &open, depth) { return }
                _ = try name()
            case UInt8(ascii: "["):
                if try openContainer(false, in: &open, depth) { return }
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

    /// Enters the container that begins here, and returns whether it is empty and was skipped.
    @inline(__always)
    private mutating func openContainer(
        _ isObject: Bool,
        in open: inout OpenContainers,
        _ depth: Int
    ) throws(JSONFault) -> Bool {
        try checkDepth(depth + open.count)
        if openContainer(isObject) { return true }
        open.append(isObject: isObject)
        return false
    }
}
