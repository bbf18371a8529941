import BeagleNetHTTP
import BeagleNetRequestBuilder

extension FieldError {
    /// Reads what a refusal with status 400, 409 or 422 says about fields, in the formats of common servers: lists
    /// (`errors`, `violations`, `invalid-params`, FastAPI's `detail`), members by field (Rails, Django), JSON:API and
    /// problem details (RFC 9457). An error in none of these formats is kept as its JSON text.
    ///
    /// - Parameters:
    ///   - response: the server's response.
    ///   - inputs: the names of the form's inputs; `nil` takes every name for an input's.
    /// - Returns: the errors in the server's order, members by name; none if the body has none. At most 1,000 errors are
    ///   read, and of a longer name the first 1,000 characters.
    public static func list(in response: NetworkResponse, inputs: [String]? = nil) -> [FieldError] {
        guard [400, 409, 422].contains(response.status.code) else { return [] }
        return list(in: response.data, contentType: response.contentType, inputs: inputs)
    }

    package static func list(in body: Data, contentType: String?, inputs: [String]?) -> [FieldError] {
        // A body that is no JSON tells of no fields; the failure it belongs to is thrown with it.
        guard let value = try? JSONValue(parsing: body), let root = value.object else { return [] }
        var errors = FieldErrors(inputs: inputs)
        errors.read(root, isProblem: contentType.flatMap(MediaType.init)?.essence == "application/problem+json")
        return errors.list
    }
}

/// Collects the errors that a JSON body has.
private struct FieldErrors {
    /// The most errors that are read, and the most characters of a name, which each error of a list under it repeats.
    private static let limit = 1_000

    let inputs: [String]?
    private(set) var list: [FieldError] = []

    init(inputs: [String]?) {
        self.inputs = inputs
    }

    /// Members of the root that hold errors: of Rails, ASP.NET and JSON:API, of Bean Validation, of JHipster, of RFC 7807's
    /// example, of FastAPI.
    private static let holders = [
        "errors", "violations", "fieldErrors", "field_errors", "invalid-params", "invalidParams", "invalid_params",
        "detail",
    ]
    /// Members by field that are about the whole form: of Rails, Django's forms, and Django REST framework.
    private static let wholeForm: Set<String> = ["base", "__all__", "non_field_errors", "nonFieldErrors"]
    /// Where FastAPI says that a field is, before its name.
    private static let locations: Set<String> = ["body", "query", "path", "header", "cookie", "form"]

    mutating func read(_ root: [String: JSONValue], isProblem: Bool) {
        for holder in Self.holders where list.isEmpty {
            if let value = root[holder], value.array != nil || value.object != nil { add(value, at: []) }
        }
        if list.isEmpty, isByField(root) { addMembers(root, at: []) }
        guard list.isEmpty else { return }
        // FastAPI and Django REST framework say `detail` alone; other members mean a format that isn't known.
        let detail = isProblem || root.count == 1 ? root["detail"]?.string : nil
        if let message = detail ?? (isProblem ? root["title"]?.string : nil) {
            list.append(FieldError(field: nil, message: message))
        }
    }

    /// Whether all members of the root are lists, as of Django and Rails, and one names an input: a record, which
    /// another server sends with 409, has other members too.
    private func isByField(_ root: [String: JSONValue]) -> Bool {
        guard !root.isEmpty, root.values.allSatisfy(\.hasListsOnly) else { return false }
        return inputs == nil
            || root.keys.contains { name in
                Self.wholeForm.contains(name) || input(of: Self.tokens(ofName: name), whole: name) != nil
            }
    }

    /// Adds what is said at a path.
    private mutating func add(_ value: JSONValue, at path: [String]) {
        guard list.count < Self.limit else { return }
        switch value {
        case .string(let message): add(message, at: path)
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                switch element {
                // Django's list of nested errors has empty ones for elements that are right.
                case .object(let members) where members.isEmpty && !path.isEmpty: break
                case .object(let members) where element.isNested: addMembers(members, at: path + ["\(index)"])
                default: add(element, at: path)
                }
            }
        case .object(let members) where value.isNested: addMembers(members, at: path)
        case .object: add(error: value, at: path)
        default: add(value.words, at: path)
        }
    }

    private mutating func addMembers(_ members: [String: JSONValue], at path: [String]) {
        for (name, value) in members.sorted(by: { $0.key < $1.key }) { add(value, at: path + [Self.short(name)]) }
    }

    /// Adds an error with a name of its own, else that of the path.
    private mutating func add(error: JSONValue, at path: [String]) {
        let message = error.errorMessage ?? error.words
        let source = error["source"]
        if let pointer = error["pointer"]?.string ?? source?["pointer"]?.string {
            list.append(fieldError(pointer, isPointer: true, message))
        } else if let location = error["loc"]?.array {
            let tokens = location.map(\.words)
            let isPlace = tokens.first.map(Self.locations.contains) ?? false
            add(message, at: isPlace ? Array(tokens.dropFirst()) : tokens)
        } else if let name = error.errorName ?? source?["parameter"]?.string {
            list.append(fieldError(name, isPointer: false, message))
        } else {
            add(message, at: path)
        }
    }

    /// Adds a message at a path; at none it is about the whole form.
    private mutating func add(_ message: String, at path: [String]) {
        let named = path.filter { Int($0) == nil }
        let isWhole = named.last.map { Self.wholeForm.contains($0) && !(inputs ?? []).contains($0) } ?? true
        list.append(
            isWhole
                ? FieldError(field: nil, message: message)
                : fieldError(path.joined(separator: "."), isPointer: false, message)
        )
    }
}

// MARK: - Names

extension FieldErrors {
    private func fieldError(_ name: String, isPointer: Bool, _ message: String) -> FieldError {
        let name = Self.short(name)
        let tokens = isPointer ? Self.tokens(ofPointer: name) : [name]
        if inputs == nil { return FieldError(field: tokens.joined(separator: "."), message: message) }
        let field = input(of: isPointer ? tokens : Self.tokens(ofName: name), whole: name)
        return FieldError(field: field, message: message, serverName: field == nil ? name : nil)
    }

    private static func short(_ name: String) -> String {
        name.utf8.count <= limit ? name : String(name.unicodeScalars.prefix(limit))
    }

    /// `#/profile/color`, a JSON pointer in a fragment (RFC 6901, 6), or one without `#`.
    private static func tokens(ofPointer pointer: String) -> [String] {
        let text = pointer.hasPrefix("#") ? PercentEncoding.decode(pointer.dropFirst()) ?? pointer : pointer
        return text.split(separator: "/").map { String($0.replacing("~1", with: "/").replacing("~0", with: "~")) }
    }

    /// `profile.color`, `profile[color]`, `tags[0]`.
    private static func tokens(ofName name: String) -> [String] {
        name.split { ".[]".contains($0) }.map(String.init)
    }

    /// The input that is meant: by the whole name, a path written as forms do, the first of its words, as of a list's
    /// element, or the last, as of `/data/attributes/email`; as it is, else whatever its case, dashes and underscores.
    private func input(of tokens: [String], whole: String) -> String? {
        let inputs = inputs ?? []
        guard let first = tokens.first, let last = tokens.last else { return inputs.first { $0 == whole } }
        let bracketed = first + tokens.dropFirst().map { "[\($0)]" }.joined()
        let names = [whole, tokens.joined(separator: "."), bracketed, tokens.joined(separator: "/"), first, last]
        let exact = names.lazy.compactMap { name in inputs.first { $0 == name } }.first
        return exact ?? names.lazy.map(\.folded).compactMap { name in inputs.first { $0.folded == name } }.first
    }
}

extension String {
    fileprivate var folded: String { lowercased().filter { $0 != "-" && $0 != "_" } }
}

extension JSONValue {
    /// Text as it is, all else as JSON.
    fileprivate var words: String { string ?? description }

    /// The message of an error: ours and that of most, FastAPI's, JSON:API's and problem details', Spring's, RFC 7807's
    /// example, Rails' details.
    fileprivate var errorMessage: String? {
        ["message", "msg", "detail", "defaultMessage", "reason", "title", "error"].lazy
            .compactMap { self[$0]?.string }.first
    }

    /// The name of an error's field.
    fileprivate var errorName: String? {
        ["field", "name", "attr", "path", "param", "property"].lazy.compactMap { self[$0]?.string }.first
    }

    /// Whether it has errors by field, and is none itself.
    fileprivate var isNested: Bool {
        guard let object, !object.isEmpty, errorMessage == nil, errorName == nil, object["source"]?["pointer"] == nil
        else { return false }
        return object.values.allSatisfy { $0.string != nil || $0.array != nil || $0.object != nil }
    }

    /// Whether it is a list of errors, or has nothing but such lists by field.
    fileprivate var hasListsOnly: Bool {
        if let array { return !array.isEmpty && array.allSatisfy { $0.string != nil || $0.object != nil } }
        guard let object, !object.isEmpty else { return false }
        return object.values.allSatisfy(\.hasListsOnly)
    }
}
