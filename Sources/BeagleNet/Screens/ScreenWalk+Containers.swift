import BeagleNetHTTP

extension ScreenWalk {
    /// Enters a container with the meaning of this edge, or skips it if nothing in it has a meaning.
    mutating func open(isObject: Bool, _ edge: ScreenTable.Edge) throws(JSONFault) {
        switch edge.role {
        case .skipped, .headers, .body:
            let value = try cursor.skipValue(depth: stack.count)
            if edge.role != .skipped { take(value, edge, isString: false) }
            return
        default: break
        }
        try cursor.checkDepth(stack.count)
        let start = cursor.index
        if edge.role == .localScreen, isObject, let record = record() { found.records[record].isLocal = true }
        if edge.role == .items || edge.role == .contextValue { take(JSONSpan(start, start), edge, isString: false) }
        stack.append(current)
        let parent = current
        current = ScreenFrame(
            isObject: isObject,
            time: parent.time.below(edge.role),
            start: UInt32(truncatingIfNeeded: start),
            node: edge.node
        )
        current.element = parent.element
        if stack.count == 1 { current.path = ScreenPaths.root }
        if edge.role == .submission || (!parent.isObject && parent.submits) { current.submits = true }
        current.edge = edge
        if !isObject {
            current.name = parent.name
            if !edge.role.isOfElements { current.edge.role = .none }
        }
        beginScope(edge)
        if cursor.openContainer(isObject) {
            if isObject { enterImplied(edge) }
            close()
        } else {
            // The loop reads the contents, so that the depth needs no stack.
            isAtFirst = true
        }
    }

    /// Reads the first member, which usually is the marker that gives the object its type.
    @inline(__always)
    mutating func readFirstMember() throws(JSONFault) {
        if let entry = takeLate() {
            enterType(entry.marker, entry.type)
            return try readMember()
        }
        let name = try cursor.name()
        let number = table.number(of: name, in: cursor.bytes)
        if number != 0, table.markers[Int(number)] != nil, cursor.peek() == UInt8(ascii: "\"") {
            return enterType(number, try cursor.string())
        }
        enterImplied(current.edge)
        current.step = UInt32(truncatingIfNeeded: name.start)
        current.name = number
        if stack.count == 1 { takeID(number) }
        try beginValue(table.edge(current.node, number))
    }

    /// Returns the marker of the current object if it was found before the walk.
    private mutating func takeLate() -> LateMarkers.Entry? {
        guard let late else { return nil }
        // The walk skips some objects.
        while lateIndex < late.count, late[lateIndex].start < current.start { lateIndex += 1 }
        guard lateIndex < late.count, late[lateIndex].start == current.start else { return nil }
        return late[lateIndex]
    }

    @inline(__always)
    mutating func close() {
        if current.isOwner || current.isRegion { closeParts() }
        current = stack.removeLast()
    }
}

extension ScreenTable.Edge.Role {
    /// Whether the elements of an array have the meaning of the array.
    @inline(__always)
    fileprivate var isOfElements: Bool {
        switch self {
        case .reference, .alternatives, .fallback, .localScreen: true
        default: false
        }
    }
}

extension NeedTime {
    /// Returns the time of the objects in a member with this meaning.
    @inline(__always)
    fileprivate func below(_ role: ScreenTable.Edge.Role) -> NeedTime {
        switch role {
        case .data, .items, .contextID, .contextValue, .changedContext: .data
        case .fallback: self == .data ? .data : .fallback
        case .template, .alternatives: self == .render ? .template : self
        default: self
        }
    }
}
