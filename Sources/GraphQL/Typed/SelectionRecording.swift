/// An error that prevents a selection from being derived.
struct SelectionError: Error {
    let reason: String
    let advice: String

    static let sample = "make the type conform to GraphQLSelection.Sample, or write the selection into the document"

    static func place(_ path: [any CodingKey]) -> String {
        path.isEmpty ? "the type itself" : path.map(\.stringValue).joined(separator: ".")
    }
}

/// The fields that a type requested, in order.
final class SelectionRecording {
    private var names: [String] = []
    private var fields: [String: SelectionRecording] = [:]
    private var given = GraphQLSelection()
    /// Whether the type requested any fields.
    var isObject = false

    func field(_ name: String) -> SelectionRecording {
        if let known = fields[name] { return known }
        let field = SelectionRecording()
        names.append(name)
        fields[name] = field
        return field
    }

    func setSelection(_ selection: GraphQLSelection) {
        given = selection
    }

    func selection(at path: [String]) throws(SelectionError) -> GraphQLSelection {
        var selection = given
        for name in names {
            let path = path + [name]
            guard name.isGraphQLName else {
                throw SelectionError(
                    reason: "\(path.joined(separator: ".")) is not a valid field name",
                    advice: "use a name of letters, digits and _ in CodingKeys, and an alias in the document"
                )
            }
            let field = try fields[name]?.selection(at: path) ?? GraphQLSelection()
            selection.parts.append(.field(GraphQLSelection.Field(name) { field }))
        }
        guard selection.parts.isEmpty, isObject else { return selection }
        throw SelectionError(
            reason: "\(path.isEmpty ? "it" : path.joined(separator: ".")) is an object, but its type reads no fields",
            advice: SelectionError.sample
        )
    }
}
