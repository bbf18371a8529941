import BeagleNetHTTP

/// A walk through a screen that checks its JSON and finds its references in one pass.
///
/// The open containers are kept in a list instead of recursive calls, because a thread's stack may be small. Values are
/// positions in the document; no text is created.
struct ScreenWalk {
    let table: ScreenTable
    let limit: Int
    let recordsOutline: Bool

    var cursor: JSONCursor
    var current: ScreenFrame
    /// The containers around the current one.
    var stack: ContiguousArray<ScreenFrame> = []
    var owners: ContiguousArray<ScreenOwner> = []
    /// The contexts whose component isn't closed, as indices of scopes.
    var openScopes: [Int32] = []
    var found = ScreenFindings()
    /// The number of containers around each element of the outline.
    var elementDepths: [Int] = []
    /// The number of records that are references.
    var kept = 0
    /// The types that were found before the walk, or `nil` if it assumes that markers come first.
    let late: [LateMarkers.Entry]?
    var lateIndex = 0
    /// Whether the contents of the current container come next.
    var isAtFirst = false
    /// Whether an object has a marker that isn't its first member, so that the walk has to begin again.
    private var foundLateMarker = false

    /// Walks through a document.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of references. Further ones are counted.
    ///   - recordsOutline: Whether components and actions are listed too.
    static func findings(
        in bytes: UnsafeBufferPointer<UInt8>,
        _ table: ScreenTable,
        limit: Int,
        recordsOutline: Bool
    ) throws(JSONFault) -> ScreenFindings {
        if let offset = UTF8Check.firstInvalid(in: bytes) {
            throw JSONFault(offset: offset, reason: "the text is not valid UTF-8")
        }
        var walk = ScreenWalk(bytes, table, limit, recordsOutline, late: nil)
        try walk.run()
        if walk.foundLateMarker {
            let late = try LateMarkers(bytes, table).entries
            walk = ScreenWalk(bytes, table, limit, recordsOutline, late: late)
            try walk.run()
        }
        walk.sortScopes()
        return walk.found
    }

    private init(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ table: ScreenTable,
        _ limit: Int,
        _ recordsOutline: Bool,
        late: [LateMarkers.Entry]?
    ) {
        self.table = table
        self.limit = limit
        self.recordsOutline = recordsOutline
        self.late = late
        cursor = JSONCursor(bytes)
        current = ScreenFrame(isObject: false, time: .render, start: 0, node: ScreenTable.anyNode)
    }

    private mutating func run() throws(JSONFault) {
        cursor.skipByteOrderMark()
        try beginValue(ScreenTable.Edge())
        while !stack.isEmpty, !foundLateMarker {
            if isAtFirst {
                isAtFirst = false
                if current.isObject { try readFirstMember() } else { try beginValue(current.edge) }
                continue
            }
            let byte = cursor.peek()
            if byte == UInt8(ascii: ",") {
                cursor.index &+= 1
                if current.isObject {
                    try readMember()
                } else {
                    current.step &+= 1
                    try beginValue(current.edge)
                }
            } else if byte == (current.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                cursor.index &+= 1
                close()
            } else {
                throw cursor.unfinished(current.isObject)
            }
        }
        if !foundLateMarker { try cursor.finish() }
    }

    @inline(__always)
    mutating func readMember() throws(JSONFault) {
        let name = try cursor.name()
        let number = table.number(of: name, in: cursor.bytes)
        current.step = UInt32(truncatingIfNeeded: name.start)
        current.name = number
        if number != 0, table.markers[Int(number)] != nil, cursor.peek() == UInt8(ascii: "\"") {
            if !current.isTyped, late == nil { foundLateMarker = true }
            _ = try cursor.string()
            return
        }
        if stack.count == 1 { takeID(number) }
        try beginValue(table.edge(current.node, number))
    }

    /// Reads the identifier of the outermost object, if this is its member. An `id` counts more than an `identifier`.
    mutating func takeID(_ number: UInt16) {
        guard let rank = table.idNames.firstIndex(of: number), rank == 0 || !found.rootID.isPresent,
            cursor.peek() == UInt8(ascii: "\"")
        else { return }
        // Reads the string on a copy of the cursor. If it is malformed, the walk finds the error.
        var ahead = cursor
        do throws(JSONFault) { found.rootID = try ahead.string() } catch {}
    }

    /// Reads a scalar, or opens a container, with the meaning of this edge.
    @inline(__always)
    mutating func beginValue(_ edge: ScreenTable.Edge) throws(JSONFault) {
        switch cursor.peek() {
        case UInt8(ascii: "\""):
            let text = try cursor.string()
            if edge.role == .none, edge.note == 0 {
                if cursor.mayBeWebURL(text) { addUnknown(text) }
            } else {
                take(text, edge, isString: true)
            }
        case UInt8(ascii: "{"): try open(isObject: true, edge)
        case UInt8(ascii: "["): try open(isObject: false, edge)
        default:
            let value = try cursor.scalar()
            if edge.role != .none || edge.note != 0 { take(value, edge, isString: false) }
        }
    }
}

extension JSONCursor {
    /// Whether a string may begin with `http://` or `https://`, in any case and with any escapes.
    @inline(__always)
    fileprivate func mayBeWebURL(_ text: JSONSpan) -> Bool {
        guard text.count >= 8 else { return false }
        let first = bytes[text.start]
        return first | 0x20 == UInt8(ascii: "h") || first == UInt8(ascii: "\\")
    }
}

/// A component, an action or an image path that the walk is in, with the parts that members at any depth add to.
struct ScreenOwner {
    /// The reference whose members this object has, or -1.
    var record: Int32 = -1
    /// The list whose items and templates this object has, or -1.
    var list: Int32 = -1
    /// The innermost form of Beagle 1.x, or -1.
    var form: Int32
    let opensForm: Bool
    let submits: Bool
    let time: NeedTime
    let firstRecord: Int32
    let start: UInt32
}
