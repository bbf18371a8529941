import BeagleNetGraphQL
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// The demo backend's `/graphql` route: GraphQL over HTTP, with subscriptions as event streams and over a WebSocket
/// (graphql-transport-ws).
final class DemoGraphQL: Sendable {
    /// The members of a GraphQL request.
    typealias Message = [String: JSONValue]

    /// The maximum size of a document, in bytes.
    private static let maxDocumentBytes = 64 << 10
    /// The interval between two events of a subscription.
    static let eventInterval = Duration.milliseconds(100)

    private let schema: Result<GraphQLSchema, NetworkError>
    /// Documents by hash (automatic persisted queries).
    private let documents = Lock<[String: String]>([:])
    private static let maxDocuments = 1000

    init() {
        schema = Result { () throws(NetworkError) in try GraphQLSchema(sdl: DemoSchema.text) }
    }

    /// Returns the response to a request.
    func respond(to request: BackendRequest) throws -> BackendResponse {
        if BackendWebSocket.isUpgrade(request) {
            return try BackendWebSocket.accepting(request, subprotocols: ["graphql-transport-ws"]) { socket, _ in
                try GraphQLWebSocketSession(self, socket).run()
            }
        }
        let accepts = request.list(.accept).map { $0.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces) }
        let isTyped = accepts.contains("application/graphql-response+json")
        let isStream = accepts.contains("text/event-stream")
        do {
            var execution = try execution(of: message(of: request))
            guard request.method == "POST" || execution.kind != .mutation else {
                throw DemoSchema.Fault(message: "a mutation cannot be sent by GET")
            }
            guard execution.kind == .subscription || isStream else {
                return Self.response(execution.result(), isTyped: isTyped)
            }
            guard isStream else {
                throw DemoSchema.Fault(message: "a subscription requires a WebSocket, or Accept: text/event-stream")
            }
            return Self.stream(execution, request.body)
        } catch let fault as DemoSchema.Fault {
            // With the older media type, a well-formed message gets the status 200 (GraphQL over HTTP, 6.4.1).
            return Self.response(GraphQLExecution.rejection(fault), isTyped: isTyped, isRefused: true)
        }
    }

    // MARK: - Messages

    private func message(of request: BackendRequest) throws -> Message {
        if request.method == "POST" { return try Self.members(of: Self.json(request.body.collect())) }
        var message: Message = [:]
        for item in QueryItems.items(request.query[...]) {
            let isJSON = ["variables", "extensions"].contains(item.name)
            message[item.name] = isJSON ? try Self.json(Data(item.value.utf8)) : .string(item.value)
        }
        return message
    }

    private static func members(of message: JSONValue) throws(DemoSchema.Fault) -> Message {
        guard let members = message.object else { throw DemoSchema.Fault(message: "the message is not a JSON object") }
        return members
    }

    private static func json(_ data: Data) throws(DemoSchema.Fault) -> JSONValue {
        do throws(NetworkError) {
            return try JSONValue(parsing: data)
        } catch {
            throw DemoSchema.Fault(message: "the message is not JSON")
        }
    }

    /// Validates a message, and returns its execution.
    ///
    /// - Throws: `DemoSchema.Fault` if the message is rejected before it is executed.
    func execution(of message: Message) throws(DemoSchema.Fault) -> GraphQLExecution {
        let text = try document(of: message)
        guard text.utf8.count <= Self.maxDocumentBytes else {
            throw DemoSchema.Fault(message: "the document is larger than \(Self.maxDocumentBytes) bytes")
        }
        let variables = message["variables"] ?? .null
        guard variables == .null || variables.object != nil else {
            throw DemoSchema.Fault(message: "the variables are not an object")
        }
        do {
            let document = try GraphQLDocument(parsing: text)
            if let problem = try schema.get().problems(in: document).first {
                throw DemoSchema.Fault(message: problem, code: "GRAPHQL_VALIDATION_FAILED")
            }
            return try GraphQLExecution(
                document,
                operationName: message["operationName"]?.string,
                variables: variables.object ?? [:]
            )
        } catch let fault as DemoSchema.Fault {
            throw fault
        } catch {
            let message = (error as? NetworkError)?.message ?? "the document cannot be executed"
            throw DemoSchema.Fault(message: message, code: "GRAPHQL_PARSE_FAILED")
        }
    }

    /// Returns the text of a document, which may be stored under its hash.
    private func document(of message: Message) throws(DemoSchema.Fault) -> String {
        let hash = message["extensions"]?["persistedQuery"]?["sha256Hash"]?.string
        guard let text = message["query"]?.string else {
            if let hash {
                if let known = documents.withLock({ $0[hash] }) { return known }
                throw DemoSchema.Fault(message: "PersistedQueryNotFound", code: "PERSISTED_QUERY_NOT_FOUND")
            }
            throw DemoSchema.Fault(message: "the message has no query")
        }
        if let hash {
            guard text.utf8.count <= Self.maxDocumentBytes, (try? SHA256Digest.hex(of: Data(text.utf8))) == hash else {
                throw DemoSchema.Fault(message: "the hash does not match the query")
            }
            documents.withLock { documents in
                if documents.count >= Self.maxDocuments { documents = [:] }
                documents[hash] = text
            }
        }
        return text
    }

    // MARK: - Responses

    private static func response(_ result: JSONValue, isTyped: Bool, isRefused: Bool = false) -> BackendResponse {
        BackendResponse(
            isTyped && isRefused ? .badRequest : .ok,
            [.contentType: isTyped ? "application/graphql-response+json" : "application/json"],
            Data("\(result)\n".utf8)
        )
    }

    /// Returns an event stream of results, which ends with a `complete` event.
    private static func stream(_ execution: GraphQLExecution, _ body: BackendBody) -> BackendResponse {
        let fields: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-cache"]
        return BackendResponse(
            .ok,
            fields,
            .stream { send in
                var results = GraphQLResults(execution)
                while let result = results.next() {
                    try send(Data("event: next\ndata: \(result)\n\n".utf8))
                    if execution.kind == .subscription { try body.pause(eventInterval) }
                }
                try send(Data("event: complete\ndata:\n\n".utf8))
            }
        )
    }
}

/// The results of an operation: one for a query or mutation, and one for each event of a subscription.
struct GraphQLResults {
    private var execution: GraphQLExecution
    private var events: AnyIterator<DemoSchema.Value>?
    private var field: GraphQLExecution.Field?
    private var isOver = false

    init(_ execution: GraphQLExecution) {
        self.execution = execution
        guard execution.kind == .subscription, let field = execution.rootFields.first else { return }
        self.field = field
        events = Self.iterator(DemoSchema.events(field.name, execution.arguments(of: field)))
    }

    private static func iterator<S: Sequence<DemoSchema.Value>>(_ sequence: S) -> AnyIterator<DemoSchema.Value> {
        AnyIterator(sequence.makeIterator())
    }

    /// Returns the next result, or `nil` if there are no more.
    mutating func next() -> JSONValue? {
        if let field {
            guard let event = events?.next() else { return nil }
            return execution.result(for: event, of: field)
        }
        if isOver { return nil }
        isOver = true
        return execution.result()
    }
}
