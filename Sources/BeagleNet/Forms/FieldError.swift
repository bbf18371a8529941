import BeagleNetHTTP
import BeagleNetRequestBuilder

/// What is wrong with an input of a form, or with the form as a whole.
public struct FieldError: Error, Sendable, Hashable {
    /// The name of the input; nil where it is about the whole form, or about what is no input of it.
    public var field: String?
    /// What is wrong, said to the person who filled it in.
    public var message: String
    /// What the server calls the field, where it is no input of the form.
    public var serverName: String?

    /// Describes what is wrong.
    public init(field: String?, message: String, serverName: String? = nil) {
        self.field = field
        self.message = message
        self.serverName = serverName
    }
}

extension FieldError {
    /// What a server's refusal says of the fields.
    ///
    /// It reads `{"errors": [{"field": …, "message": …}]}`, the `pointer` and `detail` of RFC 9457, 3, and
    /// `{"errors": {"FIELD": ["…"]}}`. An error whose form is none of these is kept as its JSON text. A problem without
    /// `errors` is one error of the whole form.
    ///
    /// - Parameters:
    ///   - body: the body of the answer.
    ///   - contentType: its media type.
    ///   - inputs: the names of the form's inputs; nil takes every name for an input's.
    /// - Returns: the errors in the server's order; none where the body tells of none.
    package static func list(in body: Data, contentType: String?, inputs: [String]?) -> [FieldError] {
        // A body that is no JSON tells of no fields; the failure it belongs to is thrown with it.
        guard let value = try? JSONValue(parsing: body), value.object != nil else { return [] }
        let errors =
            switch value["errors"] {
            case .array(let elements): elements.map { FieldError($0, inputs) }
            case .object(let members):
                members.sorted { $0.key < $1.key }.flatMap { name, said in
                    (said.array ?? [said]).map { FieldError(name: name, isPointer: false, $0.words, inputs) }
                }
            default: [FieldError]()
            }
        if !errors.isEmpty { return errors }
        let isProblem = contentType.flatMap(MediaType.init)?.essence == "application/problem+json"
        guard isProblem, let message = value["detail"]?.string ?? value["title"]?.string else { return [] }
        return [FieldError(field: nil, message: message)]
    }

    private init(_ error: JSONValue, _ inputs: [String]?) {
        let message = ["message", "detail", "title"].lazy.compactMap { error[$0]?.string }.first ?? error.words
        if let pointer = error["pointer"]?.string {
            self.init(name: pointer, isPointer: true, message, inputs)
        } else if let name = error["field"]?.string ?? error["name"]?.string {
            self.init(name: name, isPointer: false, message, inputs)
        } else {
            self.init(field: nil, message: message)
        }
    }

    private init(name: String, isPointer: Bool, _ message: String, _ inputs: [String]?) {
        let tokens = isPointer ? Self.tokens(ofPointer: name) : [name]
        guard let inputs else {
            self.init(field: tokens.joined(separator: "."), message: message)
            return
        }
        let field = Self.input(of: isPointer ? tokens : Self.tokens(ofName: name), whole: name, inputs)
        self.init(field: field, message: message, serverName: field == nil ? name : nil)
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
    /// element, or the last, as of `/data/attributes/email`.
    private static func input(of tokens: [String], whole: String, _ inputs: [String]) -> String? {
        guard let first = tokens.first, let last = tokens.last else { return inputs.first { $0 == whole } }
        let bracketed = first + tokens.dropFirst().map { "[\($0)]" }.joined()
        let names = [whole, tokens.joined(separator: "."), bracketed, tokens.joined(separator: "/"), first, last]
        let exact = names.lazy.compactMap { name in inputs.first { $0 == name } }.first
        return exact
            ?? names.lazy.compactMap { name in inputs.first { $0.lowercased() == name.lowercased() } }.first
    }
}

extension JSONValue {
    /// Text as it is, all else as JSON.
    fileprivate var words: String { string ?? description }
}
