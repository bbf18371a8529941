import BeagleNetHTTP

extension ScreenWalk {
    /// Takes a value with a meaning: a string without its quotes, another scalar, or a container that was skipped.
    mutating func take(_ value: JSONSpan, _ edge: ScreenTable.Edge, isString: Bool) {
        if edge.note != 0, isMemberOfElement(Int(edge.noteDepth)) { note(value, edge.note, isString) }
        switch edge.role {
        case .url, .plainURL: if isString, current.isObject { setURL(value, edge) }
        case .imagePath: if isString, mayBeImage(value) { add(value, .image) }
        case .reference: if isString { add(value, edge.kind) }
        case .method: if isString { setPart { $0.method = value } }
        case .headers: if let raw = written(value, isString) { setPart { $0.headers = raw } }
        case .body: if let raw = written(value, isString) { setPart { $0.body = raw } }
        case .prefetch: if !isString, isTrue(value), let record = record() { found.records[record].isMarked = true }
        case .navigationType: if isString { setNavigation(value) }
        case .items: if let list = list() { found.lists[Int(list)].items = position(of: value, isString) }
        case .iteratorName: if isString, let list = list() { found.lists[Int(list)].iteratorName = value }
        case .indexName: if isString, let list = list() { found.lists[Int(list)].indexName = value }
        case .templateCase: if isString { setCase(value) }
        case .contextID:
            if isString {
                setContext {
                    $0 = value
                } value: { _ in
                }
            }
        case .contextValue:
            let position = position(of: value, isString)
            setContext { _ in
            } value: {
                $0 = position
            }
        case .changedContext: if isString { found.changedContexts.append(value) }
        case .inputName: if isString { found.inputs.append(value) }
        case .none, .data, .fallback, .template, .alternatives, .submission:
            if isString { addUnknown(value) }
        case .localScreen, .skipped: break
        }
    }

    /// Returns the position of a value, including the quote of a string.
    private func position(of value: JSONSpan, _ isString: Bool) -> UInt32 {
        UInt32(truncatingIfNeeded: isString ? value.start - 1 : value.start)
    }

    /// Returns the JSON text of a value, or `nil` for null.
    private func written(_ value: JSONSpan, _ isString: Bool) -> JSONSpan? {
        if isString { return JSONSpan(value.start - 1, value.end + 1) }
        return cursor.bytes[value.start] == UInt8(ascii: "n") ? nil : value
    }

    private func isTrue(_ value: JSONSpan) -> Bool { cursor.bytes[value.start] == UInt8(ascii: "t") }

    private mutating func note(_ value: JSONSpan, _ note: UInt8, _ isString: Bool) {
        let text = value.text(in: cursor.bytes)
        guard !isString else { return found.outline.elements[Int(current.element)].notes[note] = .string(text) }
        // The walk has checked the value, so that there is no error.
        do throws(NetworkError) {
            found.outline.elements[Int(current.element)].notes[note] = try JSONValue(parsing: text)
        } catch {}
    }

    // MARK: - Contexts and lists

    /// Returns the list of the innermost component, or `nil` outside of components.
    mutating func list() -> Int32? {
        guard let last = owners.indices.last else { return nil }
        if owners[last].list < 0 {
            found.lists.append(ScreenFindings.List())
            owners[last].list = Int32(found.lists.count - 1)
        }
        return owners[last].list
    }

    private mutating func setCase(_ value: JSONSpan) {
        guard current.isRegion,
            case .template(let list, _, let isAlternative) = found.scopes[Int(current.scope)].content
        else { return }
        found.scopes[Int(current.scope)].content = .template(list: list, case: value, isAlternative: isAlternative)
    }

    /// Changes the context that the current object declares for the innermost component.
    private mutating func setContext(_ id: (inout JSONSpan) -> Void, value: (inout UInt32) -> Void) {
        if current.scope < 0 {
            let first = Int(owners.last?.firstRecord ?? 0)
            found.scopes.append(
                ScreenFindings.Scope(
                    content: .context(id: .none, value: 0),
                    start: owners.last?.start ?? 0,
                    records: first..<first
                )
            )
            current.scope = Int32(found.scopes.count - 1)
            openScopes.append(current.scope)
        }
        guard case .context(var oldID, var oldValue) = found.scopes[Int(current.scope)].content else { return }
        id(&oldID)
        value(&oldValue)
        found.scopes[Int(current.scope)].content = .context(id: oldID, value: oldValue)
    }

    // MARK: - References

    /// Returns the record of the innermost component or action, or `nil` outside of them.
    mutating func record() -> Int? {
        guard let last = owners.indices.last else { return nil }
        if owners[last].record < 0 {
            found.records.append(ScreenRecord(form: owners[last].form, time: owners[last].time))
            owners[last].record = Int32(found.records.count - 1)
        }
        return Int(owners[last].record)
    }

    /// Changes the parts of the request of the innermost component or action.
    private mutating func setPart(_ change: (inout ScreenRequestParts) -> Void) {
        guard let record = record() else { return }
        if found.records[record].parts < 0 {
            found.parts.append(.none)
            found.records[record].parts = Int32(truncatingIfNeeded: found.parts.count - 1)
        }
        change(&found.parts[Int(found.records[record].parts)])
    }

    private mutating func setURL(_ url: JSONSpan, _ edge: ScreenTable.Edge) {
        guard let record = record() else { return }
        let submits = edge.kind == .request && owners[owners.count - 1].submits
        found.records[record].url = url
        found.records[record].isPlain = edge.role == .plainURL
        // The type of a navigation in Beagle 0.x may have set it.
        if found.records[record].kind != .webPage { found.records[record].kind = submits ? .form : edge.kind }
        if kept < limit { found.records[record].path = leaf() }
    }

    /// Handles the types of navigation that don't fetch a screen.
    private mutating func setNavigation(_ type: JSONSpan) {
        let type = type.text(in: cursor.bytes).uppercased()
        guard type.contains("DEEP_LINK") || type.contains("EXTERNAL"), let record = record() else { return }
        if type.contains("DEEP_LINK") {
            found.records[record].isLocal = true
        } else {
            found.records[record].kind = .webPage
        }
    }

    /// Adds a reference that has no other members.
    private mutating func add(_ url: JSONSpan, _ kind: ReferenceKind) {
        guard url.count > 0 else { return }
        guard kept < limit else { return found.omitted += 1 }
        kept += 1
        found.records.append(ScreenRecord(url: url, path: leaf(), kind: kind, time: current.time))
    }

    /// Adds a string as an unknown reference if it is a URL of the web.
    @inline(never)
    mutating func addUnknown(_ text: JSONSpan) {
        if text.scheme(in: cursor.bytes) == .web { add(text, .unknown) }
    }

    /// Counts the reference of a component or action that ends here, or drops its record if it makes no request.
    mutating func finish(_ index: Int) {
        let record = found.records[index]
        let isReference = record.url.count > 0 && !record.isLocal
        if isReference, kept < limit, record.path >= 0 { return kept += 1 }
        if isReference { found.omitted += 1 }
        if index == found.records.count - 1 {
            found.records.removeLast()
        } else {
            found.records[index].isDropped = true
        }
    }

    /// Returns the path of the current member or element.
    private mutating func leaf() -> Int32 {
        if stack.isEmpty { return ScreenPaths.root }
        if current.path < 0 {
            // The outermost container has a path.
            var first = stack.count
            while stack[first - 1].path < 0 { first -= 1 }
            for index in first..<stack.count {
                stack[index].path = append(to: stack[index - 1], isAction: stack[index].isAction)
            }
            current.path = append(to: stack[stack.count - 1], isAction: current.isAction)
        }
        return append(to: current, isAction: false)
    }

    private mutating func append(to frame: ScreenFrame, isAction: Bool) -> Int32 {
        found.paths.append(to: frame.path, frame.step, isName: frame.isObject, isAction: isAction)
    }

    /// Whether the text of an image's path is an expression or an address, and not the name of a local image.
    func mayBeImage(_ path: JSONSpan) -> Bool {
        path.text(in: cursor.bytes).utf8.contains { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "/") }
    }
}
