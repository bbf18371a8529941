public import BeagleNetDependencies

extension Form {
    /// An error of an input of a form, or of the form as a whole.
    public struct FieldError: Error, Sendable, Hashable {
        /// The name of the input, or `nil` if the error is about the whole form or about a field that isn't an input of
        /// it.
        public var field: String?
        /// The message to the user who filled in the form.
        public var message: String
        /// The server's name of the field, if it isn't an input of the form.
        public var serverName: String?

        /// Creates an error.
        public init(field: String?, message: String, serverName: String? = nil) {
            self.field = field
            self.message = message
            self.serverName = serverName
        }
    }

    /// A reader of the field errors in the response to a `Form`.
    ///
    /// The standard reader supports the formats of common servers. If your server has its own format, provide a reader:
    ///
    /// ```swift
    /// dependencies.fieldErrorReader = Form.FieldErrorReader { response, inputs in
    ///     guard let body = try? response.decode(as: Problems.self) else { return nil }  // a standard format
    ///     return body.problems.map { Form.FieldError(field: $0.input, message: $0.text) }
    /// }
    /// ```
    public struct FieldErrorReader: Sendable {
        /// The reader of the formats that `Form.FieldError.list(in:inputs:)` documents, with status 400, 409 or 422.
        public static let standard = FieldErrorReader { _, _ in nil }

        private let read: @Sendable (_ response: NetworkResponse, _ inputs: [String]) -> [FieldError]?

        /// Creates a reader of an app's own format.
        ///
        /// - Parameter read: Returns the errors in a response whose status is outside 200...299, for a form with these
        ///   inputs, or `nil` to read it as a standard format. If it returns no errors, the response doesn't count as a
        ///   rejection of the form, and an error is thrown.
        public init(_ read: @escaping @Sendable (_ response: NetworkResponse, _ inputs: [String]) -> [FieldError]?) {
            self.read = read
        }

        func errors(in response: NetworkResponse, inputs: [String]) -> [FieldError] {
            read(response, inputs) ?? FieldError.list(in: response, inputs: inputs)
        }
    }
}

extension BeagleDependencies {
    /// The reader of field errors in the responses to a `Form`, the standard reader by default.
    public var fieldErrorReader: Form.FieldErrorReader {
        get { self[FieldErrorReaderKey.self] }
        set { self[FieldErrorReaderKey.self] = newValue }
    }
}

enum FieldErrorReaderKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> Form.FieldErrorReader { .standard }
}
