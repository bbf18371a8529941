import ArgumentParser
import BeagleNetGraphQL
import Foundation

/// The flags of every command that performs a GraphQL operation: which one, and with what.
struct DocumentFlags: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The document: text, @FILE, or @- for standard input.", valueName: "document")
    )
    var query: String

    @Option(
        name: .customLong("variable"),
        help: ArgumentHelp(
            "-v too. A variable: JSON, or else text; text where the document declares ID or String. Repeatable.",
            valueName: "name=value"
        )
    )
    var variable: [FieldArgument] = []

    @Option(name: .long, help: ArgumentHelp("The variables as a JSON object, or @FILE.", valueName: "json"))
    var variables: String?

    @Option(name: .long, help: ArgumentHelp("Which operation, where the document has several.", valueName: "name"))
    var operation: String?

    /// With `-v` as the short form of `--variable`, as in other tools for GraphQL.
    static func expanding(_ arguments: [String]) -> [String] {
        let commands = [GraphQLCommand.configuration.commandName, SubscribeCommand.configuration.commandName]
        guard commands.contains(arguments.first) else { return arguments }
        return arguments.map { $0 == "-v" ? "--variable" : $0 }
    }

    func validate() throws {
        if let index = variable.firstIndex(where: \.name.isEmpty) {
            throw ValidationError("Variable \(index + 1) has no name: write 'name=value'.")
        }
    }

    /// What is asked.
    func request() throws -> GraphQLRequest {
        let text = query.hasPrefix("@") ? try contents(ofFile: String(query.dropFirst())) : query
        let found = try GraphQLDocument.cached(text).operation(named: operation)
        var tree = try variables.map { try object($0, of: "--variables") } ?? .object([:])
        for field in variable {
            tree[field.name] = value(
                field.value,
                declared: found.variables.first { $0.name == field.name }?.type.description
            )
        }
        var request = GraphQLRequest(query: text, operationName: found.name, kind: found.kind)
        if tree != .object([:]) { request.variables = try tree.data() }
        return request
    }

    /// A JSON object, or that of `@FILE`.
    ///
    /// - Parameter flag: which flag it is of.
    func object(_ argument: String, of flag: String) throws -> JSONValue {
        let text = argument.hasPrefix("@") ? try contents(ofFile: String(argument.dropFirst())) : argument
        let tree: JSONValue
        do throws(NetworkError) {
            tree = try JSONValue(parsing: text)
        } catch {
            throw Failure(exit: ExitCode.usage, code: "usage", phase: .build, "\(flag) is no JSON: \(error.message)")
        }
        guard tree.object != nil else {
            throw Failure(exit: ExitCode.usage, code: "usage", phase: .build, "\(flag) is no JSON object")
        }
        return tree
    }

    /// The text of a file, or with - of standard input.
    private func contents(ofFile path: String) throws -> String {
        let data: Data
        do {
            data =
                try path == "-" ? StandardInput.data.get() : Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw Failure(exit: ExitCode.readFailed, code: "file", phase: .build, "cannot read \(path)")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw Failure(exit: ExitCode.readFailed, code: "file", phase: .build, "\(path) is not UTF-8")
        }
        return text
    }

    /// JSON where it is that; what is declared as text stays text: `-v id=1` is "1" for an `ID`.
    private func value(_ text: String, declared type: String?) -> JSONValue {
        if let type, ["ID", "String"].contains(type.filter { $0 != "!" }), !text.hasPrefix("\""), text != "null" {
            return .string(text)
        }
        return (try? JSONValue(parsing: text)) ?? .string(text)
    }
}

/// What a process is given, which can be read once, and may be asked for again.
private enum StandardInput {
    static let data = Result { try FileHandle.standardInput.readToEnd() ?? Data() }
}
