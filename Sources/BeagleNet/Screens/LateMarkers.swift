import BeagleNetHTTP

/// The types of objects whose marker isn't their first member, found before the walk.
///
/// The marker decides how the members before it are read. Frameworks write it first, so that most documents have no such
/// object.
struct LateMarkers {
    struct Entry {
        let start: UInt32
        let marker: UInt16
        let type: JSONSpan
    }

    private(set) var entries: [Entry] = []

    private struct Frame {
        let start: UInt32
        let isObject: Bool
        var count: UInt32 = 0
        var isTyped = false
    }

    /// Reads a whole document.
    init(_ bytes: UnsafeBufferPointer<UInt8>, _ table: ScreenTable) throws(JSONFault) {
        var cursor = JSONCursor(bytes)
        cursor.skipByteOrderMark()
        var stack: [Frame] = []
        var isAfterValue = false
        repeat {
            if isAfterValue {
                guard let top = stack.last else { break }
                let byte = cursor.peek()
                if byte == UInt8(ascii: ",") {
                    cursor.index += 1
                } else if byte == (top.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                    cursor.index += 1
                    stack.removeLast()
                    continue
                } else {
                    throw cursor.unfinished(top.isObject)
                }
            }
            if let top = stack.last, top.isObject { try readName(&cursor, &stack[stack.count - 1], table) }
            isAfterValue = try beginValue(&cursor, &stack)
        } while true
        try cursor.finish()
        entries.sort { $0.start < $1.start }
    }

    /// Reads a scalar or an empty container, or opens another container.
    ///
    /// - Returns: Whether the value is complete.
    private func beginValue(_ cursor: inout JSONCursor, _ stack: inout [Frame]) throws(JSONFault) -> Bool {
        let byte = cursor.peek()
        switch byte {
        case UInt8(ascii: "\""): _ = try cursor.string()
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            try cursor.checkDepth(stack.count)
            let frame = Frame(start: UInt32(cursor.index), isObject: byte == UInt8(ascii: "{"))
            if cursor.openContainer(frame.isObject) { return true }
            stack.append(frame)
            return false
        default: _ = try cursor.scalar()
        }
        return true
    }

    private mutating func readName(
        _ cursor: inout JSONCursor,
        _ frame: inout Frame,
        _ table: ScreenTable
    ) throws(JSONFault) {
        let name = try cursor.name()
        frame.count += 1
        let isCandidate = name.hasEscapes || table.beginsMarker[Int(cursor.bytes[name.start])]
        if frame.isTyped || !isCandidate { return }
        let number = table.number(of: name, in: cursor.bytes)
        guard table.markers[Int(number)] != nil, cursor.peek() == UInt8(ascii: "\"") else { return }
        frame.isTyped = true
        guard frame.count > 1 else { return }
        // Reads the value on a copy of the cursor.
        var ahead = cursor
        entries.append(Entry(start: frame.start, marker: number, type: try ahead.string()))
    }
}

extension ScreenTable {
    /// Returns the number of a name in the document, or 0.
    @inline(__always)
    func number(of name: JSONSpan, in bytes: UnsafeBufferPointer<UInt8>) -> UInt16 {
        name.hasEscapes ? names.number(name.text(in: bytes)) : names.number(bytes, name.start, name.count)
    }
}
