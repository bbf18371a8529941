public import BeagleNetHTTP

/// What came of a form: what the server answered, or which inputs are wrong.
public struct FormReply: Sendable {
    /// What there is.
    public enum Content: Sendable, Hashable {
        /// A Beagle action: a JSON object with `_beagleAction_`.
        case action(JSONValue)
        /// Any other JSON.
        case json(JSONValue)
        /// A success that says nothing: status 204 or 205, or no body.
        case empty
        /// A success whose body is no JSON: see `response`.
        case other
        /// The form was not accepted: by its own validators before anything was sent, else by the server.
        case refused([FieldError])
    }

    /// What there is.
    public let content: Content
    /// The server's answer; nil where the form's own validators refused it.
    public let response: NetworkResponse?

    /// Whether the server accepted the form.
    public var isAccepted: Bool {
        if case .refused = content { return false }
        return true
    }

    /// What is wrong, where the form was not accepted.
    public var errors: [FieldError] {
        if case .refused(let errors) = content { return errors }
        return []
    }

    /// What is wrong with this input; with nil, with the form as a whole.
    public func messages(for field: String?) -> [String] {
        errors.filter { $0.field == field }.map(\.message)
    }
}

extension FormReply {
    /// A refusal by the form's own validators.
    init(refusing errors: [FieldError]) {
        content = .refused(errors)
        response = nil
    }

    /// A success. Whatever its body is, it is one: the server has acted.
    init(_ response: NetworkResponse) {
        self.response = response
        if response.data.isEmpty || response.status == .noContent || response.status == .resetContent {
            content = .empty
        } else if let value = try? JSONValue(parsing: response.data) {
            content = value["_beagleAction_"]?.string == nil ? .json(value) : .action(value)
        } else {
            content = .other
        }
    }

    /// A refusal that tells what is wrong; nil for any other failure.
    init?(refusedWith error: NetworkError, inputs: [String], _ reader: FieldErrorReader) {
        guard let response = NetworkResponse(of: error) else { return nil }
        let errors = reader.errors(in: response, inputs: inputs)
        guard !errors.isEmpty else { return nil }
        content = .refused(errors)
        self.response = response
    }
}

extension FormReply: CustomStringConvertible, CustomReflectable {
    /// Whether the form was accepted, what is wrong with it, and the server's answer, with its secrets replaced.
    public var description: String {
        let redactor = Beagle.dependencies.redactor
        let errors = errors.map { redactor.redact(text: "\($0.field ?? "the form"): \($0.message)") }
        let outcome = isAccepted ? "accepted" : "refused: \(errors.joined(separator: "; "))"
        return response.map { "\(outcome)\n\($0)" } ?? outcome
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
