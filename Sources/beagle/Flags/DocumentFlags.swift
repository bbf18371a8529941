import ArgumentParser
import BeagleNetGraphQL
import BeagleNetHTTP
import Foundation

/// The options of commands that run a GraphQL operation.
struct DocumentFlags: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("GraphQL document: text, @FILE, or @- for standard input.", valueName: "document")
    )
    var query: String

    @Option(
        name: .customLong("variable"),
        help: ArgumentHelp(
            "Variable, also -v. Values that are not JSON, or are for an ID or String, are text. Repeatable.",
            valueName: "name=value"
        )
    )
    var variable: [FieldArgument] = []

    @Option(name: .long, help: ArgumentHelp("Variables as a JSON object, or @FILE.", valueName: "json"))
    var variables: String?

    @Option(name: .long, help: ArgumentHelp("Operation to run, if the document has several.", valueName: "name"))
    var operation: String?

    /// Expands `-v` to `--variable` for these commands, as in other GraphQL tools.
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

    /// Returns the operation with its variables.
    func request() throws -> GraphQLRequest {
        let text = query.hasPrefix("@") ? try contents(ofFile: String(query.dropFirst())) : query
        let found = try GraphQLDocument.cached(text).operation(named: operation)
        var members: [String: String] = [:]
        if let variables {
            for (name, value) in try document(variables, of: "--variables").root.members {
                members[name] = value.verbatim
            }
        }
        for field in variable {
            members[field.name] = value(
                field.value,
                declared: found.variables.first { $0.name == field.name }?.type.description
            )
        }
        var request = GraphQLRequest(query: text, operationName: found.name, kind: found.kind)
        if !members.isEmpty { request.variables = Data(JSONNode.object(of: members).utf8) }
        return request
    }

    /// Returns a JSON object, given as text or as `@FILE`.
    ///
    /// - Parameter flag: The option, for error messages.
    func object(_ argument: String, of flag: String) throws -> JSONValue {
        try JSONValue(parsing: Data(document(argument, of: flag).root.raw))
    }

    /// Returns the parsed JSON object, which keeps its original text.
    private func document(_ argument: String, of flag: String) throws -> ParsedJSON {
        let text = argument.hasPrefix("@") ? try contents(ofFile: String(argument.dropFirst())) : argument
        let document: ParsedJSON
        do throws(JSONFault) {
            document = try ParsedJSON(Data(text.utf8))
        } catch {
            throw Failure(
                exit: ExitCode.usage,
                code: "usage",
                phase: .build,
                "\(flag) is not JSON: \(error.reason) at byte \(error.offset)"
            )
        }
        guard document.root.kind == .object else {
            throw Failure(exit: ExitCode.usage, code: "usage", phase: .build, "\(flag) is not a JSON object")
        }
        return document
    }

    /// Returns the text of a file, or of standard input if the path is `-`.
    private func contents(ofFile path: String) throws -> String {
        let data: Data
        do {
            data = try Inputs.data(at: path)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(exit: ExitCode.readFailed, code: "file", phase: .build, "cannot read \(path)")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw Failure(exit: ExitCode.readFailed, code: "file", phase: .build, "\(path) is not UTF-8")
        }
        return text
    }

    /// Returns a variable's value as JSON. Text for an `ID` or `String` stays text: `-v id=1` is `"1"` for an `ID`.
    private func value(_ text: String, declared type: String?) -> String {
        let isText = type.map { ["ID", "String"].contains($0.filter { $0 != "!" }) } ?? false
        if isText, !text.hasPrefix("\""), text != "null" { return "\(JSONValue.string(text))" }
        // Text that isn't JSON is a string.
        return (try? ParsedJSON(Data(text.utf8)))?.root.verbatim ?? "\(JSONValue.string(text))"
    }
}

/// The contents of files that were read. Pipes such as standard input can be read only once, but the contents may be
/// needed again.
private enum Inputs {
    private static let contents = Lock<[String: Data]>([:])
    /// The maximum size of a document or of variables, in bytes.
    private static let limit = 64 << 20

    /// Returns the contents of a file, or of standard input if the path is `-`.
    static func data(at path: String) throws -> Data {
        if let data = contents.withLock({ $0[path] }) { return data }
        // `Data(contentsOf:)` can't read pipes.
        let file =
            try path == "-" ? FileHandle.standardInput : FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        let data = try file.wholeContents(upTo: limit, of: path == "-" ? "standard input" : path)
        contents.withLock { $0[path] = data }
        return data
    }
}
