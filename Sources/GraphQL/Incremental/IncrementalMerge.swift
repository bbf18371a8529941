import BeagleNet
package import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Merges the payloads of an incremental result into one response.
///
/// It supports the specification's format (`pending`, `incremental` with `id`, `completed`), the older format
/// (`deferSpec=20220824`) and Relay's own. Each payload shows its format by its members; unknown members are ignored.
///
/// A payload with `data` and without `path` begins a new response. Source:
/// https://github.com/graphql/graphql-spec/pull/1110, section 7
package struct IncrementalMerge: Sendable {
    private struct Pending: Sendable {
        let label: String?
        let path: JSONValue.Path
        /// The errors of the parts so far, which are reported when the fragment is complete.
        var errors: [GraphQLError] = []
        var extensions: [String: JSONValue] = [:]
    }

    /// The merged data, or `nil` if the response has none.
    package private(set) var data: JSONValue?
    /// All errors so far.
    package private(set) var errors: [GraphQLError] = []
    /// All extensions so far. A later value replaces an earlier one of the same name.
    package private(set) var extensions: [String: JSONValue] = [:]
    /// Whether the server announced more payloads, or `nil` if it didn't say.
    package private(set) var hasNext: Bool?
    /// Whether parts are missing: the server announced more payloads, or it hasn't completed an announced part.
    ///
    /// If the server states that no more payloads follow, announced parts still count as incomplete (section 7, Pending
    /// Result). Formats without announcements are complete at that point.
    package var isUnfinished: Bool { hasNext == true || !pending.isEmpty }
    /// Whether the last payload was a complete response, so that its text can be used unchanged.
    package private(set) var isSinglePayload = false
    /// Whether there is data that is not null.
    package var hasData: Bool { data?.object != nil }
    private var hasStarted = false
    private var pending: [String: Pending] = [:]
    /// The total size of the response's payloads, in bytes.
    private var byteCount = 0
    private let maxBytes: Int

    /// Creates an empty response.
    ///
    /// - Parameter maxPayloadBytes: The maximum size of a payload in bytes. The whole response may have four times this
    ///   size.
    package init(maxPayloadBytes: Int = .max) {
        self.init(maxBytes: maxPayloadBytes > .max / 4 ? .max : 4 * maxPayloadBytes)
    }

    private init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    /// The merged response, in the form of a complete one.
    package var response: JSONValue {
        var members: [String: JSONValue] = [:]
        members["data"] = data
        if !errors.isEmpty { members["errors"] = .array(errors.map(\.raw)) }
        if !extensions.isEmpty { members["extensions"] = .object(extensions) }
        return .object(members)
    }

    /// Merges the text of one or several payloads.
    ///
    /// - Returns: The changes.
    /// - Throws: `NetworkError` as for a parsed payload; of kind `.tooLarge` if the whole response exceeds its limit.
    package mutating func apply(text: Data) throws(NetworkError) -> [GraphQLPatch] {
        let patches = try apply(JSONValue(parsing: text))
        // A payload that begins a new response resets the count.
        byteCount += text.count
        if byteCount > maxBytes { throw .responseTooLarge(maxBytes) }
        return patches
    }

    /// Merges a payload, or several in a list, as Relay's servers send them.
    ///
    /// - Returns: The changes. Announced list items are included as they arrive, announced fragments when they are
    ///   complete.
    /// - Throws: `NetworkError` of kind `.decoding` if the payload is invalid or has no place in the response. Earlier
    ///   changes are kept.
    package mutating func apply(_ payload: JSONValue) throws(NetworkError) -> [GraphQLPatch] {
        if case .array(let payloads) = payload {
            var patches: [GraphQLPatch] = []
            for payload in payloads { patches += try apply(payload) }
            isSinglePayload = false
            return patches
        }
        guard payload.object != nil else { throw .payload("a payload is not an object") }
        var patches: [GraphQLPatch] = []
        let isPart = payload.isPart
        let isFirst = !isPart && (payload["data"] != nil || !hasStarted)
        if isFirst { patches.append(try start(payload)) }
        for entry in try payload.list("pending") { try addPending(entry) }
        if isPart {
            if let patch = try applyPart(payload) { patches.append(patch) }
        } else {
            errors += payload.errorList
            add(payload.extensionMembers)
        }
        for entry in try payload.list("incremental") {
            if let patch = try applyPart(entry) { patches.append(patch) }
        }
        for entry in try payload.list("completed") { complete(entry, &patches) }
        hasNext = payload["hasNext"]?.bool ?? payload["extensions"]?["is_final"]?.bool.map { !$0 } ?? hasNext
        isSinglePayload = isFirst && hasNext != true && payload.isComplete
        return patches
    }

    /// Begins a response with its first payload.
    private mutating func start(_ payload: JSONValue) throws(NetworkError) -> GraphQLPatch {
        if payload["data"] == nil, payload["incremental"] != nil || payload["completed"] != nil {
            throw .payload("the first payload has no data")
        }
        var data = payload["data"]
        if data != nil, data != .null, data?.object == nil {
            // Invalid data next to errors counts as null, as in a response that is not incremental.
            guard !payload.errorList.isEmpty else { throw .payload("data is neither an object nor null") }
            data = .null
        }
        self = IncrementalMerge(maxBytes: maxBytes)
        (self.data, hasStarted) = (data, true)
        return GraphQLPatch(
            content: .data(data ?? .null),
            errors: payload.errorList,
            extensions: payload.extensionMembers
        )
    }

    /// Records an announced part and its path.
    private mutating func addPending(_ entry: JSONValue) throws(NetworkError) {
        guard let id = entry["id"]?.string else { throw .payload("a pending entry has no id") }
        let path = try entry.path("path") ?? []
        guard pending[id] == nil else { throw .payload("two pending entries have the id \(id)") }
        pending[id] = Pending(label: entry["label"]?.string, path: path)
    }

    /// Completes an announced part, also if the server failed to produce it. Reports the whole value at its path,
    /// because the fragment's own parts may lack members that other parts contributed, or be nested below it.
    private mutating func complete(_ entry: JSONValue, _ patches: inout [GraphQLPatch]) {
        let failures = entry.errorList
        errors += failures
        guard let id = entry["id"]?.string, let ended = pending.removeValue(forKey: id) else { return }
        let value = failures.isEmpty ? data?.value(at: ended.path) : nil
        // List items were already reported as they arrived.
        if value?.array != nil { return }
        patches.append(
            GraphQLPatch(
                label: ended.label,
                path: ended.path,
                content: value.map { .data($0) },
                errors: ended.errors + failures,
                extensions: ended.extensions
            )
        )
    }

    private mutating func add(_ added: [String: JSONValue]) {
        extensions.merge(added) { $1 }
    }
}

// MARK: - Pieces

extension IncrementalMerge {
    /// Merges a part at its path.
    ///
    /// - Returns: The change, or `nil` for a part of an announced fragment.
    private mutating func applyPart(_ entry: JSONValue) throws(NetworkError) -> GraphQLPatch? {
        guard hasStarted else { throw .payload("the first payload has no data") }
        var (label, path, id) = try target(of: entry)
        var content: GraphQLPatch.Content?
        var isOfFragment = id != nil
        if let items = entry["items"], items != .null {
            guard let items = items.array else { throw .payload("items is not a list") }
            content = try insert(items, at: &path, byID: id != nil)
            isOfFragment = false
        } else if let data = entry["data"], data != .null {
            content = try insert(data, at: &path, byID: id != nil)
        }
        let (failures, extensions) = (entry.errorList, entry.extensionMembers)
        errors += failures
        add(extensions)
        if isOfFragment, let id {
            pending[id]?.errors += failures
            pending[id]?.extensions.merge(extensions) { $1 }
            return nil
        }
        return GraphQLPatch(label: label, path: path, content: content, errors: failures, extensions: extensions)
    }

    /// Returns the path of a part: its subpath below the announced part with its ID, regardless of a path of its own,
    /// or else its own path.
    private func target(
        of entry: JSONValue
    ) throws(NetworkError) -> (label: String?, path: JSONValue.Path, id: String?) {
        guard let id = entry["id"], id != .null else {
            guard let path = try entry.path("path") else {
                throw .payload("an incremental result has neither id nor path")
            }
            return (entry["label"]?.string, path, nil)
        }
        guard let pendingEntry = id.string.flatMap({ pending[$0] }) else {
            throw .payload("an incremental result has the id \(id), but no pending entry has that id")
        }
        return (pendingEntry.label, pendingEntry.path + (try entry.path("subPath") ?? []), id.string)
    }

    /// Appends items to a list. Without an announced ID, the path ends with the index of the first item.
    private mutating func insert(
        _ items: [JSONValue],
        at path: inout JSONValue.Path,
        byID isByID: Bool
    ) throws(NetworkError) -> GraphQLPatch.Content {
        var start: Int?
        if !isByID, case .index(let index) = path.last {
            start = index
            path.removeLast()
        }
        try check(.array(items), at: path)
        var index: Int?
        try change(at: path[...]) { index = $0.insert(items, from: start) }
        guard let index else {
            throw .payload("\(path.text) is not a list, or is too short for the index of a payload's items")
        }
        return .items(items, index: index)
    }

    /// Merges data. In Relay's format, the next item of a list has the index after the last one.
    private mutating func insert(
        _ data: JSONValue,
        at path: inout JSONValue.Path,
        byID isByID: Bool
    ) throws(NetworkError) -> GraphQLPatch.Content {
        try check(data, at: path)
        if !isByID, case .index(let index) = path.last {
            var isInserted = false
            try change(at: path.dropLast()) { list in
                if list.array?.count == index { isInserted = list.insert([data], from: index) != nil }
            }
            if isInserted {
                path.removeLast()
                return .items([data], index: index)
            }
        } else if data.object == nil {
            throw .payload("the data for \(path.text) is not an object")
        }
        let place = path.text
        try change(at: path[...]) { value throws(NetworkError) in
            guard value.object != nil || data.object == nil else {
                throw .payload("cannot merge data into \(place): it is not an object")
            }
            value.merge(data)
        }
        return .data(data)
    }

    private mutating func change(
        at path: JSONValue.Path.SubSequence,
        _ body: (inout JSONValue) throws(NetworkError) -> Void
    ) throws(NetworkError) {
        guard data != nil else { throw .payload("cannot merge a payload: the response has no data") }
        try data?.change(at: path, body)
    }

    /// Limits the nesting depth, so that recursion over the response can't exhaust the stack.
    private func check(_ value: JSONValue, at path: JSONValue.Path) throws(NetworkError) {
        // The response adds one level around its data.
        guard value.hasDepth(atMost: JSONValue.depthLimit - 1 - path.count) else {
            throw .payload("a payload is nested deeper than \(JSONValue.depthLimit) levels")
        }
    }
}

extension JSONValue.Path {
    /// The path as shown in error messages.
    fileprivate var text: String { isEmpty ? "the data" : map(\.description).joined(separator: ".") }
}

extension JSONValue {
    /// Whether the payload is a single part.
    fileprivate var isPart: Bool { self["path"] != nil && self["path"] != .null }

    /// Whether the payload has no members that only incremental payloads have.
    fileprivate var isComplete: Bool {
        !["pending", "incremental", "completed"].contains { self[$0] != nil } && self["extensions"]?["is_final"] == nil
    }

    fileprivate var errorList: [GraphQLError] { self["errors"]?.graphQLErrors ?? [] }

    /// The server's extensions, without Relay's own.
    fileprivate var extensionMembers: [String: JSONValue] {
        (self["extensions"]?.object ?? [:]).filter { $0.key != "is_final" }
    }

    /// Returns the elements of a member; empty if it is missing.
    fileprivate func list(_ name: String) throws(NetworkError) -> [JSONValue] {
        guard let member = self[name], member != .null else { return [] }
        guard let elements = member.array, elements.allSatisfy({ $0.object != nil }) else {
            throw .payload("\(name) is not a list of objects")
        }
        return elements
    }

    fileprivate func path(_ name: String) throws(NetworkError) -> Path? {
        guard let member = self[name], member != .null else { return nil }
        let steps = member.array ?? []
        let path = steps.compactMap { step -> GraphQLError.PathElement? in
            if let key = step.string { return .key(key) }
            return step.integer.flatMap { Int(exactly: $0) }.flatMap { $0 < 0 ? nil : .index($0) }
        }
        guard member.array != nil, path.count == steps.count, path.count < Self.depthLimit else {
            throw .payload("\(name) is not a list of field names and indices")
        }
        return path
    }
}

extension NetworkError {
    fileprivate static func responseTooLarge(_ maxBytes: Int) -> NetworkError {
        NetworkError(
            .tooLarge,
            during: .body,
            "the payloads of the response are together larger than the \(maxBytes) bytes allowed",
            advice:
                "increase maxPayloadBytes, or GraphQLEndpoint.maxMessageBytes for operations sent like subscriptions"
        )
    }
}
