public import BeagleNetDependencies

/// Reads which inputs a server refuses in the response to a `Form`.
///
/// The standard one reads the formats of common servers. An app whose server has a format of its own says how to read it:
///
/// ```swift
/// dependencies.fieldErrorReader = FieldErrorReader { response, inputs in
///     guard let body = try? response.decode(as: Problems.self) else { return nil }  // a standard format
///     return body.problems.map { FieldError(field: $0.input, message: $0.text) }
/// }
/// ```
public struct FieldErrorReader: Sendable {
    /// Reads the formats that `FieldError.list(in:inputs:)` names, of statuses 400, 409 and 422.
    public static let standard = FieldErrorReader { _, _ in nil }

    private let read: @Sendable (_ response: NetworkResponse, _ inputs: [String]) -> [FieldError]?

    /// Reads an app's own format.
    ///
    /// - Parameter read: the errors of a response whose status is outside 200...299, for a form with these inputs; `nil` to
    ///   have it read as a standard format. With none of them the response isn't a refusal of the form, but an error that is
    ///   thrown.
    public init(_ read: @escaping @Sendable (_ response: NetworkResponse, _ inputs: [String]) -> [FieldError]?) {
        self.read = read
    }

    func errors(in response: NetworkResponse, inputs: [String]) -> [FieldError] {
        read(response, inputs) ?? FieldError.list(in: response, inputs: inputs)
    }
}

extension BeagleDependencies {
    /// Reads which inputs of a `Form` a server refuses; the standard reader unless another is set.
    public var fieldErrorReader: FieldErrorReader {
        get { self[FieldErrorReaderKey.self] }
        set { self[FieldErrorReaderKey.self] = newValue }
    }
}

enum FieldErrorReaderKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> FieldErrorReader { .standard }
}
