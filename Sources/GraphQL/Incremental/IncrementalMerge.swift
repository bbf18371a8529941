import BeagleNet
package import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Makes one response of the payloads of an incremental answer, in any of the forms that servers write: that of the
/// specification (`pending`, `incremental` with `id`, `completed`), the one before it (`deferSpec=20220824`), and
/// Relay's own. Each payload tells by itself which it is; what is unknown in it is passed over.
///
/// A payload with `data` and without `path` begins a new response. Source:
/// https://github.com/graphql/graphql-spec/pull/1110, section 7
package struct IncrementalMerge: Sendable {
    private struct Pending: Sendable {
        let label: String?
        let path: JSONValue.Path
        /// What its pieces said, which are told with the last.
        var errors: [GraphQLError] = []
        var extensions: [String: JSONValue] = [:]
    }

    /// The data so far; nil where the response has none.
    package private(set) var data: JSONValue?
    /// What went wrong so far.
    package private(set) var errors: [GraphQLError] = []
    /// What else the server said; of two values of one name the later.
    package private(set) var extensions: [String: JSONValue] = [:]
    /// Whether more is to come; nil where the server did not say.
    package private(set) var hasNext: Bool?
    /// Whether something is missing: the server said that more is to come, or announced what it has not completed. That it
    /// says nothing more comes does not make complete what was announced (section 7, Pending Result). Forms that announce
    /// nothing are finished where it says so.
    package var isUnfinished: Bool { hasNext == true || !pending.isEmpty }
    /// Whether the last payload was all of the response, so that its text may stand for it.
    package private(set) var isWhole = false
    /// Whether there is data that is not null.
    package var hasData: Bool { data?.object != nil }
    private var isBegun = false
    private var pending: [String: Pending] = [:]
    /// Bytes of all payloads of the response.
    private var byteCount = 0
    private let maxBytes: Int

    /// Nothing so far.
    ///
    /// - Parameter maxPayloadBytes: the most bytes of a payload; all of a response may have four times as many.
    package init(maxPayloadBytes: Int = .max) {
        self.init(maxBytes: maxPayloadBytes > .max / 4 ? .max : 4 * maxPayloadBytes)
    }

    private init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    /// The response so far, as one that came whole.
    package var response: JSONValue {
        var members: [String: JSONValue] = [:]
        members["data"] = data
        if !errors.isEmpty { members["errors"] = .array(errors.map(\.raw)) }
        if !extensions.isEmpty { members["extensions"] = .object(extensions) }
        return .object(members)
    }

    /// Takes the text of a payload, or of several.
    ///
    /// - Returns: what changed.
    /// - Throws: `NetworkError` as for a value; of kind `.tooLarge` where all of the response has more bytes than it may.
    package mutating func take(text: Data) throws(NetworkError) -> [GraphQLPatch] {
        let patches = try take(JSONValue(parsing: text))
        // One that begins anew has taken away what was counted.
        byteCount += text.count
        if byteCount > maxBytes { throw .responseTooLarge(maxBytes) }
        return patches
    }

    /// Takes a payload, or several as Relay's servers send them.
    ///
    /// - Returns: what changed: of what was announced, items as they come, and a fragment when it is complete.
    /// - Throws: `NetworkError` of kind `.decoding` where it is none, or belongs nowhere. What was taken stays.
    package mutating func take(_ payload: JSONValue) throws(NetworkError) -> [GraphQLPatch] {
        if case .array(let payloads) = payload {
            var patches: [GraphQLPatch] = []
            for payload in payloads { patches += try take(payload) }
            isWhole = false
            return patches
        }
        guard payload.object != nil else { throw .payload("a payload is not an object") }
        var patches: [GraphQLPatch] = []
        let isPiece = payload.isPiece
        let isFirst = !isPiece && (payload["data"] != nil || !isBegun)
        if isFirst { patches.append(try begin(payload)) }
        for entry in try payload.list("pending") { try announce(entry) }
        if isPiece {
            if let patch = try place(payload) { patches.append(patch) }
        } else {
            errors += payload.errorList
            add(payload.extensionMembers)
        }
        for entry in try payload.list("incremental") {
            if let patch = try place(entry) { patches.append(patch) }
        }
        for entry in try payload.list("completed") { complete(entry, &patches) }
        hasNext = payload["hasNext"]?.bool ?? payload["extensions"]?["is_final"]?.bool.map { !$0 } ?? hasNext
        isWhole = isFirst && hasNext != true && payload.isPlain
        return patches
    }

    /// Takes what a response begins with.
    private mutating func begin(_ payload: JSONValue) throws(NetworkError) -> GraphQLPatch {
        if payload["data"] == nil, payload["incremental"] != nil || payload["completed"] != nil {
            throw .payload("the first payload has no data")
        }
        var data = payload["data"]
        if data != nil, data != .null, data?.object == nil {
            // What is none beside errors is as null, as in an answer that comes whole.
            guard !payload.errorList.isEmpty else { throw .payload("data is neither an object nor null") }
            data = .null
        }
        self = IncrementalMerge(maxBytes: maxBytes)
        (self.data, isBegun) = (data, true)
        return GraphQLPatch(
            content: .data(data ?? .null),
            errors: payload.errorList,
            extensions: payload.extensionMembers
        )
    }

    /// Says what is to come, and where it will belong.
    private mutating func announce(_ entry: JSONValue) throws(NetworkError) {
        guard let id = entry["id"]?.string else { throw .payload("a pending entry has no id") }
        let path = try entry.path("path") ?? []
        guard pending[id] == nil else { throw .payload("two pending entries have the id \(id)") }
        pending[id] = Pending(label: entry["label"]?.string, path: path)
    }

    /// Nothing more comes for an id, also where the server could not make what it announced. The pieces of a fragment may
    /// lack what others brought, or have places below it: what is told is all that is there.
    private mutating func complete(_ entry: JSONValue, _ patches: inout [GraphQLPatch]) {
        let failures = entry.errorList
        errors += failures
        guard let id = entry["id"]?.string, let ended = pending.removeValue(forKey: id) else { return }
        let value = failures.isEmpty ? data?.value(at: ended.path) : nil
        // The items of a list were told as they came.
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
    /// Puts a piece where it belongs.
    ///
    /// - Returns: nil for one of a fragment that was announced.
    private mutating func place(_ entry: JSONValue) throws(NetworkError) -> GraphQLPatch? {
        guard isBegun else { throw .payload("the first payload has no data") }
        var (label, path, id) = try target(of: entry)
        var content: GraphQLPatch.Content?
        var isOfFragment = id != nil
        if let items = entry["items"], items != .null {
            guard let items = items.array else { throw .payload("items is not a list") }
            content = try put(items, at: &path, byID: id != nil)
            isOfFragment = false
        } else if let data = entry["data"], data != .null {
            content = try put(data, at: &path, byID: id != nil)
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

    /// Where a piece belongs: below what was announced with its id, whatever path it names itself, else at its path.
    private func target(
        of entry: JSONValue
    ) throws(NetworkError) -> (label: String?, path: JSONValue.Path, id: String?) {
        guard let id = entry["id"], id != .null else {
            guard let path = try entry.path("path") else {
                throw .payload("an incremental result has neither id nor path")
            }
            return (entry["label"]?.string, path, nil)
        }
        guard let announced = id.string.flatMap({ pending[$0] }) else {
            throw .payload("an incremental result has the id \(id), but no pending entry has that id")
        }
        return (announced.label, announced.path + (try entry.path("subPath") ?? []), id.string)
    }

    /// Items go to the end of the list; where no id was announced the path ends with the index of the first.
    private mutating func put(
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
        try change(at: path[...]) { index = $0.put(items, from: start) }
        guard let index else {
            throw .payload("\(path.text) is not a list, or is too short for the index of a payload's items")
        }
        return .items(items, index: index)
    }

    /// Data is merged; Relay's next item of a list is at the index behind its end.
    private mutating func put(
        _ data: JSONValue,
        at path: inout JSONValue.Path,
        byID isByID: Bool
    ) throws(NetworkError) -> GraphQLPatch.Content {
        try check(data, at: path)
        if !isByID, case .index(let index) = path.last {
            var isPut = false
            try change(at: path.dropLast()) { list in
                if list.array?.count == index { isPut = list.put([data], from: index) != nil }
            }
            if isPut {
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

    /// So that no walk over the response can exhaust the stack.
    private func check(_ value: JSONValue, at path: JSONValue.Path) throws(NetworkError) {
        // The response has one around its data.
        guard value.isFlat(within: JSONValue.depthLimit - 1 - path.count) else {
            throw .payload("a payload is nested deeper than \(JSONValue.depthLimit) levels")
        }
    }
}

extension JSONValue.Path {
    /// The path as messages show it.
    fileprivate var text: String { isEmpty ? "the data" : map(\.description).joined(separator: ".") }
}

extension JSONValue {
    /// Whether a payload is one piece by itself.
    fileprivate var isPiece: Bool { self["path"] != nil && self["path"] != .null }

    /// Whether a payload has nothing that only pieces have.
    fileprivate var isPlain: Bool {
        !["pending", "incremental", "completed"].contains { self[$0] != nil } && self["extensions"]?["is_final"] == nil
    }

    fileprivate var errorList: [GraphQLError] { self["errors"]?.graphQLErrors ?? [] }

    /// What the server says, without what is Relay's own.
    fileprivate var extensionMembers: [String: JSONValue] {
        (self["extensions"]?.object ?? [:]).filter { $0.key != "is_final" }
    }

    /// The elements of a member; none where there is no such member.
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
