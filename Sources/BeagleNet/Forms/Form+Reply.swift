public import BeagleNetHTTP

extension Form {
    /// The outcome of a submitted form: the server's response, or the field errors.
    public struct Reply: Sendable {
        /// The content of a reply.
        public enum Content: Sendable, Hashable {
            /// A Beagle action: a JSON object with `_beagleAction_`.
            case action(JSONValue)
            /// Any other JSON.
            case json(JSONValue)
            /// A success without content: status 204 or 205, or an empty body.
            case empty
            /// A success whose body isn't JSON; see `response`.
            case other
            /// The form was rejected by its own validation, before anything was sent, or by the server.
            case refused([FieldError])
        }

        /// The content of the reply.
        public let content: Content
        /// The server's response, or `nil` if the form failed its own validation.
        public let response: NetworkResponse?
        /// Whether the form was edited while it was sent.
        ///
        /// The server hasn't received the edits. They stay in the form and its draft, and are sent if the
        /// form is submitted again.
        public internal(set) var hasUnsentEdits = false

        /// Whether the server accepted the form.
        public var isAccepted: Bool {
            if case .refused = content { return false }
            return true
        }

        /// The field errors of a rejected form.
        public var errors: [FieldError] {
            if case .refused(let errors) = content { return errors }
            return []
        }

        /// Returns the error messages of an input, or with `nil`, of the form as a whole.
        public func messages(for field: String?) -> [String] {
            errors.filter { $0.field == field }.map(\.message)
        }
    }
}

extension Form.Reply {
    /// Creates a rejection by the form's own validation.
    init(refusing errors: [Form.FieldError]) {
        content = .refused(errors)
        response = nil
    }

    /// Creates a success, whatever the body, because the server has acted.
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

    /// Creates a rejection with field errors, or returns `nil` for any other failure.
    init?(refusedWith error: NetworkError, inputs: [String], _ reader: Form.FieldErrorReader) {
        guard let response = NetworkResponse(of: error) else { return nil }
        let errors = reader.errors(in: response, inputs: inputs)
        guard !errors.isEmpty else { return nil }
        content = .refused(errors)
        self.response = response
    }
}

extension Form.Reply: CustomStringConvertible, CustomReflectable {
    /// Whether the form was accepted, its errors, and the server's response, with secrets redacted.
    public var description: String {
        let redactor = Beagle.dependencies.redactor
        let errors = errors.map { redactor.redact(text: "\($0.field ?? "the form"): \($0.message)") }
        let outcome = isAccepted ? "accepted" : "refused: \(errors.joined(separator: "; "))"
        return response.map { "\(outcome)\n\($0)" } ?? outcome
    }
    /// An empty mirror, so that `dump` doesn't show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
