import BeagleNetHTTP
import BeagleNetRequestBuilder

extension Form.FieldError {
    /// Returns the field errors in a response with status 400, 409 or 422, in the formats of common servers.
    ///
    /// These are lists (`errors`, `violations`, `invalid-params`, FastAPI's `detail`), members by field (Rails,
    /// Django), JSON:API and problem details (RFC 9457). The message of an error in any other format is its JSON text.
    ///
    /// - Parameters:
    ///   - response: The server's response.
    ///   - inputs: The names of the form's inputs, or `nil` to accept every name as an input.
    /// - Returns: The errors in the server's order, with members sorted by name, or an empty array if the body has no
    ///   errors. At most 1,000 errors are read, and the first 1,000 characters of a longer name.
    public static func list(in response: NetworkResponse, inputs: [String]? = nil) -> [Form.FieldError] {
        guard [400, 409, 422].contains(response.status.code) else { return [] }
        return list(in: response.data, contentType: response.contentType, inputs: inputs)
    }

    package static func list(in body: Data, contentType: String?, inputs: [String]?) -> [Form.FieldError] {
        // A body that isn't JSON has no field errors; it is part of the error that is thrown.
        guard let value = try? JSONValue(parsing: body), let root = value.object else { return [] }
        var errors = FieldErrors(inputs: inputs)
        errors.read(root, isProblem: contentType.flatMap(MediaType.init)?.essence == "application/problem+json")
        return errors.list
    }
}

/// A collector of the errors in a JSON body.
private struct FieldErrors {
    /// The maximum number of errors, and of characters in a name, which is repeated by each error of a list under it.
    private static let limit = 1_000

    let inputs: [String]?
    private(set) var list: [Form.FieldError] = []

    init(inputs: [String]?) {
        self.inputs = inputs
    }

    /// The members of the root that contain errors: of Rails, ASP.NET and JSON:API, of Bean Validation, of JHipster, of
    /// RFC 7807's example, of FastAPI.
    private static let errorMembers = [
        "errors", "violations", "fieldErrors", "field_errors", "invalid-params", "invalidParams", "invalid_params",
        "detail",
    ]
    /// The members by field that are about the whole form: of Rails, Django's forms, and Django REST framework.
    private static let wholeForm: Set<String> = ["base", "__all__", "non_field_errors", "nonFieldErrors"]
    /// The locations that FastAPI puts before the name of a field.
    private static let locations: Set<String> = ["body", "query", "path", "header", "cookie", "form"]

    mutating func read(_ root: [String: JSONValue], isProblem: Bool) {
        for holder in Self.errorMembers where list.isEmpty {
            if let value = root[holder], value.array != nil || value.object != nil { add(value, at: []) }
        }
        if list.isEmpty, isByField(root) { addMembers(root, at: []) }
        guard list.isEmpty else { return }
        // FastAPI and Django REST framework send `detail` alone. Other members indicate an unknown format.
        let detail = isProblem || root.count == 1 ? root["detail"]?.string : nil
        if let message = detail ?? (isProblem ? root["title"]?.string : nil) {
            list.append(Form.FieldError(field: nil, message: message))
        }
    }

    /// Returns whether all members of the root are lists, as sent by Django and Rails, and one is named after an input.
    ///
    /// A record, which another server sends with 409, has other members too.
    private func isByField(_ root: [String: JSONValue]) -> Bool {
        guard !root.isEmpty, root.values.allSatisfy(\.hasListsOnly) else { return false }
        return inputs == nil
            || root.keys.contains { name in
                Self.wholeForm.contains(name) || input(of: Self.tokens(ofName: name), whole: name) != nil
            }
    }

    /// Adds the errors of a value at a path.
    private mutating func add(_ value: JSONValue, at path: [String]) {
        guard list.count < Self.limit else { return }
        switch value {
        case .string(let message): add(message, at: path)
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                switch element {
                // Django's list of nested errors has an empty object for each valid element.
                case .object(let members) where members.isEmpty && !path.isEmpty: break
                case .object(let members) where element.isNested: addMembers(members, at: path + ["\(index)"])
                default: add(element, at: path)
                }
            }
        case .object(let members) where value.isNested: addMembers(members, at: path)
        case .object: add(error: value, at: path)
        default: add(value.text, at: path)
        }
    }

    private mutating func addMembers(_ members: [String: JSONValue], at path: [String]) {
        for (name, value) in members.sorted(by: { $0.key < $1.key }) { add(value, at: path + [Self.short(name)]) }
    }

    /// Adds an error with its own name, or that of the path.
    private mutating func add(error: JSONValue, at path: [String]) {
        let message = error.errorMessage ?? error.text
        let source = error["source"]
        if let pointer = error["pointer"]?.string ?? source?["pointer"]?.string {
            list.append(fieldError(pointer, isPointer: true, message))
        } else if let location = error["loc"]?.array {
            let tokens = location.map(\.text)
            let isPlace = tokens.first.map(Self.locations.contains) ?? false
            add(message, at: isPlace ? Array(tokens.dropFirst()) : tokens)
        } else if let name = error.errorName ?? source?["parameter"]?.string {
            list.append(fieldError(name, isPointer: false, message))
        } else {
            add(message, at: path)
        }
    }

    /// Adds a message at a path; an empty path stands for the whole form.
    private mutating func add(_ message: String, at path: [String]) {
        let named = path.filter { Int($0) == nil }
        let isWhole = named.last.map { Self.wholeForm.contains($0) && !(inputs ?? []).contains($0) } ?? true
        list.append(
            isWhole
                ? Form.FieldError(field: nil, message: message)
                : fieldError(path.joined(separator: "."), isPointer: false, message)
        )
    }
}

// MARK: - Names

extension FieldErrors {
    private func fieldError(_ name: String, isPointer: Bool, _ message: String) -> Form.FieldError {
        let name = Self.short(name)
        let tokens = isPointer ? Self.tokens(ofPointer: name) : [name]
        if inputs == nil { return Form.FieldError(field: tokens.joined(separator: "."), message: message) }
        let field = input(of: isPointer ? tokens : Self.tokens(ofName: name), whole: name)
        return Form.FieldError(field: field, message: message, serverName: field == nil ? name : nil)
    }

    private static func short(_ name: String) -> String {
        name.utf8.count <= limit ? name : String(name.unicodeScalars.prefix(limit))
    }

    /// Splits a JSON pointer in a fragment (RFC 6901, 6), such as `#/profile/color`, or one without `#`.
    private static func tokens(ofPointer pointer: String) -> [String] {
        let text = pointer.hasPrefix("#") ? PercentEncoding.decode(pointer.dropFirst()) ?? pointer : pointer
        return text.split(separator: "/").map { String($0.replacing("~1", with: "/").replacing("~0", with: "~")) }
    }

    /// Splits a name such as `profile.color`, `profile[color]` or `tags[0]`.
    private static func tokens(ofName name: String) -> [String] {
        name.split { ".[]".contains($0) }.map(String.init)
    }

    /// Returns the input that matches a server's name.
    ///
    /// It is compared with the whole name, with its path as forms write it, with the first token, as for an element of
    /// a list, and with the last, as for `/data/attributes/email`: first exactly, then ignoring case, dashes and
    /// underscores.
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
    /// The text of a string; any other value as JSON.
    fileprivate var text: String { string ?? description }

    /// The message of an error, under the names of most formats: FastAPI, JSON:API and problem details, Spring, RFC
    /// 7807's example, and Rails' details.
    fileprivate var errorMessage: String? {
        ["message", "msg", "detail", "defaultMessage", "reason", "title", "error"].lazy
            .compactMap { self[$0]?.string }.first
    }

    /// The name of an error's field.
    fileprivate var errorName: String? {
        ["field", "name", "attr", "path", "param", "property"].lazy.compactMap { self[$0]?.string }.first
    }

    /// Whether the object contains errors by field and isn't an error itself.
    fileprivate var isNested: Bool {
        guard let object, !object.isEmpty, errorMessage == nil, errorName == nil, object["source"]?["pointer"] == nil
        else { return false }
        return object.values.allSatisfy { $0.string != nil || $0.array != nil || $0.object != nil }
    }

    /// Whether the value is a list of errors, or an object that contains only such lists by field.
    fileprivate var hasListsOnly: Bool {
        if let array { return !array.isEmpty && array.allSatisfy { $0.string != nil || $0.object != nil } }
        guard let object, !object.isEmpty else { return false }
        return object.values.allSatisfy(\.hasListsOnly)
    }
}
