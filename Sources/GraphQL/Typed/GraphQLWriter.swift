/// Writes parts of a document on one line.
struct GraphQLWriter {
    private(set) var text = ""
    /// The fragments used directly or by other fragments, each once.
    private(set) var fragments: [GraphQLSelection.Fragment] = []
    /// The error that makes the text invalid, if there is one.
    private(set) var problem: GraphQLText.Problem?

    mutating func write(_ selection: GraphQLSelection) {
        guard !selection.parts.isEmpty else { return }
        text += "{"
        for part in selection.parts {
            text += " "
            write(part)
        }
        text += " }"
    }

    private mutating func write(_ part: GraphQLSelection.Part) {
        switch part {
        case .field(let field): write(field)
        case .fragment(let fragment):
            text += "..."
            write(name: fragment.name)
            problem = problem ?? fragment.selection.problem
            for known in [fragment] + fragment.selection.fragments where !fragments.contains(known) {
                fragments.append(known)
            }
        case .inline(let type, let directives, let selection):
            text += "..."
            if let type {
                text += " on "
                write(name: type)
            }
            write(directives)
            text += " "
            if selection.parts.isEmpty { fail("an inline fragment selects nothing", instead: "{}") }
            write(selection)
        }
    }

    private mutating func write(_ field: GraphQLSelection.Field) {
        if let alias = field.alias {
            write(name: alias)
            text += ": "
        }
        write(name: field.name)
        write(arguments: field.arguments)
        write(field.directives)
        if !field.selection.parts.isEmpty { text += " " }
        write(field.selection)
    }

    mutating func write(_ directives: [GraphQLSelection.Directive]) {
        for directive in directives {
            text += " @"
            write(name: directive.name)
            write(arguments: directive.arguments)
        }
    }

    private mutating func write(arguments: GraphQLValue.Members) {
        guard !arguments.members.isEmpty else { return }
        text += "("
        write(arguments.members)
        text += ")"
    }

    private mutating func write(_ members: [GraphQLValue.Members.Member]) {
        for (index, member) in members.enumerated() {
            if index > 0 { text += ", " }
            write(name: member.name)
            text += ": "
            write(member.value)
        }
    }

    /// Writes a value.
    mutating func write(_ value: GraphQLValue) {
        switch value {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .int(let number): text += "\(number)"
        case .float(let number) where number.isFinite: text += "\(number)"
        case .float(let number): fail("GraphQL cannot represent the number \(number)", instead: "?")
        case .string(let value): text += GraphQLString.quoted(value)
        case .enumValue(let word): write(name: word)
        case .variable(let name):
            text += "$"
            write(name: name)
        case .list(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += ", " }
                write(element)
            }
            text += "]"
        case .object(let object):
            text += "{"
            write(object.members)
            text += "}"
        }
    }

    /// Writes a name. An invalid name is rejected, because it could contain arbitrary GraphQL.
    mutating func write(name: String) {
        if name.isGraphQLName {
            text += name
        } else {
            fail("\"\(name)\" is not a valid name: use only letters, digits and _", instead: "?")
        }
    }

    /// Writes a type.
    mutating func write(type: String) {
        let name = type.filter { !"[]!".contains($0) }
        if name.isGraphQLName {
            text += type
        } else {
            fail("\"\(type)\" is not a valid type", instead: "?")
        }
    }

    /// Writes GraphQL text unchanged.
    mutating func write(verbatim words: StaticString) {
        text += "\(words)"
    }

    /// Records an error.
    ///
    /// - Parameter placeholder: A text that makes the document invalid.
    private mutating func fail(_ message: String, instead placeholder: StaticString) {
        text += "\(placeholder)"
        problem = problem ?? GraphQLText.Problem(message: message, advice: "check where the selection is created")
    }
}

extension String {
    /// Whether the string is a valid name (GraphQL specification, 2.1.9).
    var isGraphQLName: Bool {
        utf8.first?.isNameStart == true && utf8.allSatisfy(\.isNamePart)
    }
}
