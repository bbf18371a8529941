/// A variable of a `GraphQLTemplate`: its name in the document, and the type of the value that callers pass.
public struct GraphQLVariable<Value: Encodable & Sendable>: Sendable {
    /// The name of the variable, without `$`.
    public let name: String

    /// Creates a variable.
    ///
    /// - Parameters:
    ///   - name: The name in the document, without `$`.
    ///   - type: The type of the value.
    public init(_ name: String, _ type: Value.Type) {
        self.name = name
    }
}

/// A variable of a template, compared with the variable that the document declares.
struct TemplateVariable: Sendable {
    let name: String
    let shape: ValueShape

    /// Returns the reason why the variable doesn't match the declared one, or `nil` if it does.
    func problem(with declared: GraphQLDocument.Variable?) -> String? {
        guard let declared else { return "$\(name) is given, but the document does not declare it" }
        let type = declared.hasDefault && shape.mayBeLeftOut ? declared.type.nullable : declared.type
        return shape.problem(with: type).map { "$\(name) is declared as \(declared.type), but \($0)" }
    }
}
