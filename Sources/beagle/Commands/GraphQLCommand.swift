import ArgumentParser
import BeagleNet
import BeagleNetGraphQL
import Foundation

/// The `beagle graphql` command, which runs one operation.
struct GraphQLCommand: TransferCommand {
    static let configuration = CommandConfiguration(
        commandName: "graphql",
        abstract: "Send a GraphQL query or mutation.",
        discussion: """
            Writes the data of the response. If the response has errors, they are written to standard error, any data \
            to standard output, and the command exits with 102. Here, -v is short for --variable; use --verbose for \
            details of the transfer.

            EXAMPLE
              beagle graphql http://127.0.0.1:8080/graphql -q '{ hero { name } }'
              echo 'query Post($id: ID!) { post(id: $id) { title } }' > post.graphql
              beagle graphql http://127.0.0.1:8080/graphql -q @post.graphql -v id=1
            """
    )

    @OptionGroup var address: Address

    @OptionGroup var document: DocumentFlags

    @Flag(name: .long, help: "Send the document's hash, and its text only if the server does not know it.")
    var persisted = false

    @Flag(name: .long, help: "Send the query with GET, in the URL.")
    var get = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Upload a file as this variable; dots separate nested names, as in input.photos.0=@a.jpg. Repeatable.",
            valueName: "name=@file"
        )
    )
    var upload: [FormPart] = []

    @OptionGroup var retries: RetryFlags
    @OptionGroup(title: "CACHE OPTIONS") var cache: CacheFlags
    @OptionGroup var response: ResponseFlags
    @OptionGroup var flags: CommonFlags

    /// Mutations don't use stored responses.
    var kind: NetworkOperation.Kind { .query }
    var keepsBody: Bool { true }

    func validate() throws {
        if let index = upload.firstIndex(where: { $0.field?.file == nil }) {
            throw ValidationError("'--upload' must be 'name=@file'; upload \(index + 1) is not.")
        }
        if get, !upload.isEmpty { throw ValidationError("'--get' and '--upload' cannot be used together.") }
    }

    func request() throws -> TransferRequest {
        try transfer(of: firstMessage(of: operation()))
    }

    /// Sends the operation, and repeats it in another form if the server's response calls for that.
    ///
    /// This ends because a URL that is too long is followed by a POST request, and a hash alone by the text.
    func receive(_ request: TransferRequest, in session: Session) async throws -> ReceivedResponse {
        let operation = try operation()
        let subject = Session.Subject(kind: .init(operation.kind), operationName: operation.operationName)
        let options = request.options
        var (message, request) = (firstMessage(of: operation), request)
        while true {
            let received = try await session.receive(request, keepsBody: keepsBody, from: continuation, for: subject)
            guard let refusal = refusal(of: request, received), let next = try message.next(after: refusal) else {
                return received
            }
            message = next
            request = try transfer(of: next)
            flags.apply(to: &request.head)
            request.options = options
        }
    }

    func result(of received: ReceivedResponse, on console: Console) throws -> CommandResult {
        let parsed = try graphQLResponse(received)
        guard parsed.errors.isEmpty else { throw try failure(of: parsed, received) }
        return CommandResult(
            json: try parsed.json,
            written: try parsed.written,
            output: received.isForFile ? Data() : try parsed.dataText
        )
    }

    func outcome(ofErrorResponse received: ReceivedResponse, on console: Console) throws -> CommandResult {
        let parsed: ParsedGraphQLResponse
        do throws(NetworkError) {
            parsed = try self.graphQLResponse(received)
        } catch {
            guard !error.graphQLErrors.isEmpty else {
                var failure = Failure(received)
                let contentType = received.head.headerFields[single: .contentType]
                if let text = ServerText.line(of: received.body, contentType) { failure.message += ": \(text)" }
                throw failure
            }
            throw failure(error.graphQLErrors, received)
        }
        guard parsed.errors.isEmpty else { throw try failure(of: parsed, received) }
        return try result(of: received, on: console)
    }

    /// Returns the reason that the server didn't accept a message, or `nil` if it did or responded differently.
    private func refusal(of request: TransferRequest, _ received: ReceivedResponse) -> DocumentMessage.Refusal? {
        if received.head.status.code == 414 { return request.head.method == .get ? .tooLong : nil }
        do throws(NetworkError) {
            return DocumentMessage.Refusal(try graphQLResponse(received))
        } catch {
            return DocumentMessage.Refusal(error.graphQLErrors)
        }
    }
}

// MARK: - Requests

extension GraphQLCommand {
    private func operation() throws -> GraphQLRequest {
        var request = try document.request()
        guard !get || request.kind == .query else {
            throw NetworkError(
                .badRequest,
                during: .build,
                "a \(request.kind) cannot be sent in a URL",
                advice: "leave out --get"
            )
        }
        guard request.kind != .subscription else {
            throw NetworkError(
                .unsupported,
                during: .build,
                "a subscription can have more than one result",
                advice: "use 'beagle subscribe'"
            )
        }
        for field in upload.compactMap(\.field) {
            if let file = field.file { try request.attach(file, at: field.name) }
        }
        return request
    }

    private func firstMessage(of operation: GraphQLRequest) -> DocumentMessage {
        DocumentMessage(operation, persisted ? .automatic : .text, method: get ? .get : .post)
    }

    /// Returns the message as a request, which uses POST unless the message specifies a method.
    private func transfer(of message: DocumentMessage) throws -> TransferRequest {
        let endpoint = GraphQLEndpoint(try address.target())
        let request = try endpoint.makeRequest(
            message.request,
            style: message.style,
            method: message.method,
            in: BeagleDependencies()
        )
        return try HttpRequestBuilder().build(request)
    }
}

// MARK: - Responses

extension GraphQLCommand {
    private func graphQLResponse(_ received: ReceivedResponse) throws(NetworkError) -> ParsedGraphQLResponse {
        let response = NetworkResponse(data: received.body, response: received.head, url: received.url)
        return try ParsedGraphQLResponse(
            response,
            refusal: received.isErrorResponse ? NetworkError(.status, during: .response, "") : nil
        )
    }

    /// Returns the failure for the server's errors, with any data of the response.
    private func failure(of parsed: ParsedGraphQLResponse, _ received: ReceivedResponse) throws(NetworkError) -> Failure
    {
        var failure = failure(parsed.errors, received)
        for (name, value) in try parsed.json.object ?? [:] { failure.details[name] = value }
        failure.written = try parsed.written
        if parsed.data != nil { failure.output = try parsed.dataText }
        return failure
    }
}

extension GraphQLCommand {
    /// Returns the failure for the server's errors.
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

extension ParsedGraphQLResponse {
    /// The result for `--json`.
    fileprivate var json: JSONValue {
        get throws(NetworkError) {
            var members: [String: JSONValue] = [:]
            if let data { members["data"] = try JSONValue(parsing: self[data]) }
            if !errors.isEmpty { members["errors"] = .array(errors.map(\.raw)) }
            if !extensions.isEmpty { members["extensions"] = .object(extensions) }
            return .object(members)
        }
    }

    /// The data for `--json`, in the server's own notation.
    fileprivate var written: [String: String] {
        get throws(NetworkError) { try dataNode.map { ["data": $0.verbatim] } ?? [:] }
    }

    /// The data as indented text.
    fileprivate var dataText: Data {
        get throws(NetworkError) { try dataNode.map { Data(($0.pretty() + "\n").utf8) } ?? Data() }
    }

    private var dataNode: JSONNode? {
        get throws(NetworkError) {
            guard let data else { return nil }
            do throws(JSONFault) {
                return try ParsedJSON(self[data]).root
            } catch {
                throw NetworkError(.decoding, during: .decode, error.reason)
            }
        }
    }
}

extension JSONNode {
    /// Returns the value as indented JSON, with the original notation of numbers and strings.
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
