import BeagleNetHTTP

extension ScreenWalk {
    /// Gives the current object its type.
    mutating func enterType(_ number: UInt16, _ type: JSONSpan) {
        current.isTyped = true
        guard let marker = table.markers[Int(number)], let (form, node) = resolve(type, marker) else { return }
        if recordsOutline { addElement(type, form, marker) }
        current.node = node ?? ScreenTable.anyNode
        if stack.count == 1 {
            (found.rootType, found.rootForm) = (type, form)
            found.isNimbus = marker.family == .nimbus
        }
        if form == .action {
            current.isAction = true
            if let parent = stack.last { current.time = current.time.after(table.eventTimes[Int(parent.name)]) }
        }
        beginOwner()
    }

    /// Makes an object without a type a screen if it can be nothing else.
    mutating func enterImplied(_ edge: ScreenTable.Edge) {
        guard recordsOutline, edge.role == .localScreen || edge.role == .fallback else { return }
        current.node = table.screenNode ?? current.node
        addElement("", isAction: false)
    }

    /// Returns the form of a type, and its node if it is in the vocabulary, or `nil` if it is no type.
    private func resolve(_ type: JSONSpan, _ marker: ScreenMarker) -> (ScreenMarker.Form, UInt16?)? {
        let bytes = cursor.bytes
        guard marker.form == .older || type.hasEscapes else {
            return (marker.form, table.node(ofType: type.written(in: bytes), marker.family))
        }
        let text = type.text(in: bytes)
        guard marker.form == .older else { return (marker.form, node(ofType: text, marker.family)) }
        let parts = text.split(separator: ":", maxSplits: 2)
        guard parts.count == 3 else { return nil }
        let node = node(ofType: "\(parts[0]):\(parts[2])", marker.family)
        switch parts[1].lowercased() {
        case "component": return (.component, node)
        case "action": return (.action, node)
        default: return nil
        }
    }

    private func node(ofType name: String, _ family: ScreenRule.Family) -> UInt16? {
        Array(name.utf8).withUnsafeBufferPointer { table.node(ofType: $0, family) }
    }

    private mutating func beginOwner() {
        let opensForm = table.nodes[Int(current.node)].isForm
        if opensForm { found.forms.append(found.inputs.count..<found.inputs.count) }
        current.isOwner = true
        owners.append(
            ScreenOwner(
                form: opensForm ? Int32(found.forms.count - 1) : owners.last?.form ?? -1,
                opensForm: opensForm,
                submits: current.submits,
                time: current.time,
                firstRecord: Int32(found.records.count),
                start: current.start
            )
        )
    }

    /// Begins the scope of a template.
    mutating func beginScope(_ edge: ScreenTable.Edge) {
        guard edge.role == .template || (edge.role == .alternatives && current.isObject) else { return }
        // An array of components is one template: its elements don't have its role.
        guard let list = list() else { return }
        let content = ScreenFindings.Scope.Content.template(
            list: list,
            case: .none,
            isAlternative: edge.role == .alternatives
        )
        let first = found.records.count
        found.scopes.append(ScreenFindings.Scope(content: content, start: current.start, records: first..<first))
        current.isRegion = true
        current.scope = Int32(found.scopes.count - 1)
    }

    // MARK: - Ends

    /// Ends what began with the current container.
    mutating func closeParts() {
        if current.isRegion { end(current.scope) }
        guard current.isOwner, let owner = owners.popLast() else { return }
        if owner.record >= 0 { finish(Int(owner.record)) }
        if owner.opensForm {
            found.forms[Int(owner.form)] = found.forms[Int(owner.form)].lowerBound..<found.inputs.count
        }
        while let scope = openScopes.last, found.scopes[Int(scope)].start == owner.start {
            end(scope)
            openScopes.removeLast()
        }
    }

    private mutating func end(_ scope: Int32) {
        let first = found.scopes[Int(scope)].records.lowerBound
        found.scopes[Int(scope)].records = first..<max(first, found.records.count)
    }

    /// Puts the scopes that have references into the order of the document, with those around others first.
    mutating func sortScopes() {
        while let scope = openScopes.popLast() { end(scope) }
        var scopes = found.scopes.filter { !$0.records.isEmpty }
        scopes.sort { ($0.start, $0.isContext ? 1 : 0) < ($1.start, $1.isContext ? 1 : 0) }
        var open: [Int] = []
        for index in scopes.indices {
            while let last = open.last, scopes[last].records.upperBound <= scopes[index].records.lowerBound {
                scopes[last].next = index
                open.removeLast()
            }
            open.append(index)
        }
        for index in open { scopes[index].next = scopes.count }
        found.scopes = scopes
    }

    // MARK: - Outline

    private mutating func addElement(_ type: JSONSpan, _ form: ScreenMarker.Form, _ marker: ScreenMarker) {
        let text = type.text(in: cursor.bytes)
        guard form == .imagePath else {
            let parts = text.split(separator: ":", maxSplits: 2)
            let isOlder = marker.form == .older && parts.count == 3
            return addElement(isOlder ? "\(parts[0]):\(parts[2])" : text, isAction: form == .action)
        }
        if current.element >= 0, text.lowercased() == "local", isMemberOfElement(1) {
            found.outline.elements[Int(current.element)].isLocalImage = true
        }
    }

    /// Whether there are this many members from the innermost element of the outline to the current container.
    func isMemberOfElement(_ count: Int) -> Bool {
        current.element >= 0 && stack.count - elementDepths[Int(current.element)] == count
    }

    private mutating func addElement(_ type: String, isAction: Bool) {
        let parent = Int(current.element)
        let frames = stack[(parent < 0 ? 1 : elementDepths[parent])...]
        elementDepths.append(stack.count)
        found.outline.elements.append(
            ScreenOutline.Element(
                type: type,
                isAction: isAction,
                isData: current.time == .data,
                parent: parent,
                path: frames.filter(\.isObject).map { ScreenPaths.name(at: $0.step, in: cursor.bytes) }
            )
        )
        current.element = Int32(found.outline.elements.count - 1)
    }
}

extension ScreenFindings.Scope {
    fileprivate var isContext: Bool {
        if case .context = content { return true }
        return false
    }
}
