import ArgumentParser
import BeagleNet
import BeagleNetGraphQL
import Foundation

/// `beagle graphql`: one operation.
struct GraphQLCommand: TransferCommand {
    static let configuration = CommandConfiguration(
        commandName: "graphql",
        abstract: "Perform a GraphQL query or mutation.",
        discussion: """
            Writes the data. Where the server answers with errors they go to standard error, beside them what data \
            there is to standard output, and the command ends with 102. Here -v is a variable, and only --verbose shows \
            what goes on.

            EXAMPLE
              beagle graphql http://127.0.0.1:8080/graphql -q '{ hero { name } }'
              beagle graphql http://127.0.0.1:8080/graphql -q @post.graphql -v id=1 --json
              beagle graphql http://127.0.0.1:8080/graphql -q @photo.graphql --upload file=@sea.jpg
            """
    )

    @OptionGroup var address: Address

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

    @Flag(name: .long, help: "Send the document's hash, and its text only if the server asks for it.")
    var persisted = false

    @Flag(name: .long, help: "Put a query into the URL.")
    var get = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A file as a variable, with dots on the way to it: input.photos.0=@a.jpg. Repeatable.",
            valueName: "name=@file"
        )
    )
    var upload: [FormPart] = []

    @OptionGroup var retries: RetryFlags
    @OptionGroup var flags: CommonFlags

    /// With `-v` as the short form of `--variable`, as in other tools for GraphQL.
    static func expanding(_ arguments: [String]) -> [String] {
        guard arguments.first == configuration.commandName else { return arguments }
        return arguments.map { $0 == "-v" ? "--variable" : $0 }
    }

    var keepsBody: Bool { true }

    func validate() throws {
        if let index = variable.firstIndex(where: \.name.isEmpty) {
            throw ValidationError("Variable \(index + 1) has no name: write 'name=value'.")
        }
        if let index = upload.firstIndex(where: { $0.field?.file == nil }) {
            throw ValidationError("'--upload' takes 'name=@file'; upload \(index + 1) is none.")
        }
        if get, !upload.isEmpty { throw ValidationError("'--get' sends no files; leave it out.") }
    }

    func request() throws -> TransferRequest {
        try message(of: question(), persisted ? .automatic : .text, get ? .get : .post)
    }

    func receive(_ request: TransferRequest, in session: Session) async throws -> ReceivedResponse {
        let received = try await session.receive(request, keepsBody: keepsBody, from: continuation)
        guard var next = try followUp(to: received) else { return received }
        flags.apply(to: &next.head)
        next.options = request.options
        return try await session.receive(next, keepsBody: keepsBody, from: continuation)
    }

    func result(of received: ReceivedResponse, on console: Console) throws -> CommandResult {
        let answer = try answer(received)
        guard answer.errors.isEmpty else { throw try failure(of: answer, received) }
        return CommandResult(json: try answer.json, output: received.isForFile ? Data() : try answer.dataText)
    }

    func outcome(ofRefusal received: ReceivedResponse, on console: Console) throws -> CommandResult {
        let answer: GraphQLAnswer
        do throws(NetworkError) {
            answer = try self.answer(received)
        } catch {
            guard !error.graphQLErrors.isEmpty else { throw Failure(received) }
            throw failure(error.graphQLErrors, received)
        }
        guard answer.errors.isEmpty else { throw try failure(of: answer, received) }
        return try result(of: received, on: console)
    }

    /// What is to be sent where the server wants the text of a hash, or finds a URL too long.
    private func followUp(to received: ReceivedResponse) throws -> TransferRequest? {
        if persisted, let refusal = refusalOfHash(in: received) {
            let question = try question()
            return try message(of: refusal == .unknown ? question.registration() : question, .text, .post)
        }
        guard get, received.head.status.code == 414 else { return nil }
        return try message(of: question(), persisted ? .automatic : .text, .post)
    }

    /// Why the server did not take the hash; nil where it did, or answered something else.
    private func refusalOfHash(in received: ReceivedResponse) -> RefusalOfHash? {
        do throws(NetworkError) {
            return try answer(received).refusalOfHash
        } catch {
            return RefusalOfHash(error.graphQLErrors)
        }
    }
}

// MARK: - What is asked

extension GraphQLCommand {
    private func question() throws -> GraphQLRequest {
        let text = try document()
        let found = try GraphQLDocument.cached(text).operation(named: operation)
        guard !get || found.kind == .query else {
            throw NetworkError(
                .badRequest,
                during: .build,
                "a \(found.kind) is not sent in a URL",
                advice: "leave --get out"
            )
        }
        guard found.kind != .subscription else {
            throw NetworkError(.unsupported, during: .build, "a subscription has more than one answer")
        }
        var tree = try givenVariables()
        for field in variable {
            tree[field.name] = value(
                field.value,
                declared: found.variables.first { $0.name == field.name }?.type.description
            )
        }
        var request = GraphQLRequest(query: text, operationName: found.name, kind: found.kind)
        if tree != .object([:]) { request.variables = try tree.data() }
        for field in upload.compactMap(\.field) {
            if let file = field.file { try request.attach(file, at: field.name) }
        }
        return request
    }

    private func document() throws -> String {
        query.hasPrefix("@") ? try contents(ofFile: String(query.dropFirst())) : query
    }

    private func givenVariables() throws -> JSONValue {
        guard let variables else { return .object([:]) }
        let text = variables.hasPrefix("@") ? try contents(ofFile: String(variables.dropFirst())) : variables
        let tree: JSONValue
        do throws(NetworkError) {
            tree = try JSONValue(parsing: text)
        } catch {
            throw Failure(
                exit: ExitCode.usage,
                code: "usage",
                phase: .build,
                "--variables is no JSON: \(error.message)"
            )
        }
        guard tree.object != nil else {
            throw Failure(exit: ExitCode.usage, code: "usage", phase: .build, "--variables is no JSON object")
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

    private func message(
        of question: GraphQLRequest,
        _ style: GraphQLEndpoint.DocumentStyle,
        _ method: GraphQLEndpoint.QueryMethod
    ) throws -> TransferRequest {
        let endpoint = GraphQLEndpoint(try address.target())
        let request = try endpoint.makeRequest(question, style: style, method: method, in: BeagleDependencies())
        return try HttpRequestBuilder().build(request)
    }
}

/// What a process is given, which can be read once, and may be asked for again.
private enum StandardInput {
    static let data = Result { try FileHandle.standardInput.readToEnd() ?? Data() }
}

// MARK: - What came

extension GraphQLCommand {
    private func answer(_ received: ReceivedResponse) throws(NetworkError) -> GraphQLAnswer {
        let response = NetworkResponse(data: received.body, response: received.head, url: received.url)
        return try GraphQLAnswer(
            response,
            refusal: received.isRefused ? NetworkError(.status, during: .response, "") : nil
        )
    }

    /// What the server said went wrong, and what data there is.
    private func failure(of answer: GraphQLAnswer, _ received: ReceivedResponse) throws(NetworkError) -> Failure {
        var failure = failure(answer.errors, received)
        for (name, value) in try answer.json.object ?? [:] { failure.details[name] = value }
        if answer.data != nil { failure.output = try answer.dataText }
        return failure
    }
}

extension GraphQLCommand {
    /// What the server said went wrong.
    private func failure(_ errors: [GraphQLError], _ received: ReceivedResponse) -> Failure {
        var failure = Failure(
            exit: ExitCode.graphQLErrors,
            code: NetworkError.Kind.graphQL.rawValue,
            phase: .response,
            errors.map(\.description.printable).joined(separator: "\n  ")
        )
        failure.url = received.url
        failure.details["errors"] = .array(errors.map(\.raw))
        failure.details["status"] = .integer(Int64(received.head.status.code))
        return failure
    }
}

extension GraphQLAnswer {
    /// `result` of the tool's `--json`.
    fileprivate var json: JSONValue {
        get throws(NetworkError) {
            var members: [String: JSONValue] = [:]
            if let data { members["data"] = try JSONValue(parsing: self[data]) }
            if !errors.isEmpty { members["errors"] = .array(errors.map(\.raw)) }
            if !extensions.isEmpty { members["extensions"] = .object(extensions) }
            return .object(members)
        }
    }

    /// The data for people.
    fileprivate var dataText: Data {
        get throws(NetworkError) {
            guard let data else { return Data() }
            do throws(JSONFault) {
                return Data((try JSONDocument(self[data]).root.pretty() + "\n").utf8)
            } catch {
                throw NetworkError(.decoding, during: .decode, error.reason)
            }
        }
    }
}

extension JSONNode {
    /// The value for people, numbers and text as they are written.
    fileprivate func pretty(_ margin: String = "") -> String {
        let inner = margin + "  "
        func list(_ parts: [String], _ open: String, _ close: String) -> String {
            parts.isEmpty
                ? open + close : "\(open)\n\(parts.map { inner + $0 }.joined(separator: ",\n"))\n\(margin)\(close)"
        }
        switch kind {
        case .object:
            let parts = members.map { name, value in "\(JSONValue.string(name)): \(value.pretty(inner))" }
            return list(parts, "{", "}")
        case .array: return list(elements.map { $0.pretty(inner) }, "[", "]")
        default: return String(decoding: raw, as: UTF8.self)
        }
    }
}
