import ArgumentParser
import BeagleNetGraphQL
import BeagleNetHTTP
import Foundation

/// The flags of every command that performs a GraphQL operation: which one, and with what.
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
        var members: [String: String] = [:]
        if let variables {
            for (name, value) in try document(variables, of: "--variables").root.members {
                members[name] = value.asWritten
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

    /// A JSON object, or that of `@FILE`.
    ///
    /// - Parameter flag: which flag it is of.
    func object(_ argument: String, of flag: String) throws -> JSONValue {
        try JSONValue(parsing: Data(document(argument, of: flag).root.raw))
    }

    /// The same as it is written.
    private func document(_ argument: String, of flag: String) throws -> JSONDocument {
        let text = argument.hasPrefix("@") ? try contents(ofFile: String(argument.dropFirst())) : argument
        let document: JSONDocument
        do throws(JSONFault) {
            document = try JSONDocument(Data(text.utf8))
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

    /// The text of a file, or with - of standard input.
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

    /// JSON where it is that; what is declared as text stays text: `-v id=1` is "1" for an `ID`.
    private func value(_ text: String, declared type: String?) -> String {
        let isText = type.map { ["ID", "String"].contains($0.filter { $0 != "!" }) } ?? false
        if isText, !text.hasPrefix("\""), text != "null" { return "\(JSONValue.string(text))" }
        // What is no JSON is text.
        return (try? JSONDocument(Data(text.utf8)))?.root.asWritten ?? "\(JSONValue.string(text))"
    }
}

/// What was read: standard input and other pipes can be read once, and may be asked for again.
private enum Inputs {
    private static let contents = Lock<[String: Data]>([:])
    /// The largest document or variables that are read, in bytes.
    private static let limit = 64 << 20

    /// What a file holds, or with - standard input.
    static func data(at path: String) throws -> Data {
        if let data = contents.withLock({ $0[path] }) { return data }
        // Not `Data(contentsOf:)`, which reads no pipe.
        let file =
            try path == "-" ? FileHandle.standardInput : FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        let data = try file.wholeContents(upTo: limit, of: path == "-" ? "standard input" : path)
        contents.withLock { $0[path] = data }
        return data
    }
}
