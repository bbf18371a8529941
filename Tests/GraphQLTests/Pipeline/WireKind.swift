import BeagleNetGraphQL
import BeagleNetTesting
import Foundation

/// Every kind of operation in each form it has on the wire. The pipeline tests run with all of them.
enum WireKind: String, CaseIterable, Sendable {
    /// A query: posted, in a URL, as a hash, in a batch, with an incremental response, over a WebSocket.
    case query, get, persisted, batch, deferred, socketQuery
    /// A mutation: posted, in a batch, with a file upload, over a WebSocket.
    case mutation, batchMutation, upload, socketMutation
    /// A subscription: over its own event stream, a shared event stream, a multipart body, a WebSocket.
    case events, sharedEvents, parts, socket

    static let queries: [WireKind] = [.query, .get, .persisted, .batch, .deferred, .socketQuery]
    static let mutations: [WireKind] = [.mutation, .batchMutation, .upload, .socketMutation]
    static let subscriptions: [WireKind] = [.events, .sharedEvents, .parts, .socket]
    static let sockets: [WireKind] = [.socketQuery, .socketMutation, .socket]

    var operationKind: OperationKind {
        if Self.mutations.contains(self) { return .mutation }
        return Self.subscriptions.contains(self) ? .subscription : .query
    }

    var isSocket: Bool { Self.sockets.contains(self) }
    var isBatch: Bool { self == .batch || self == .batchMutation }

    var document: String {
        self == .upload
            ? "mutation Value($id: ID!, $file: Upload!) { v(id: $id, file: $file) }"
            : "\(operationKind) Value($id: ID!) { v(id: $id) }"
    }

    /// The endpoint and how the operation is sent to it.
    func endpoint(_ url: String, _ headers: [String: String] = [:]) -> GraphQLEndpoint {
        var endpoint = GraphQLEndpoint(url + "/\(rawValue)", headers: headers)
        if self == .get { endpoint.queryMethod = .get }
        if self == .persisted { endpoint.documentStyle = .automatic }
        if isSocket { endpoint.kindsOverSubscriptionTransports = [.query, .mutation, .subscription] }
        endpoint.subscriptions =
            switch self {
            case .parts: [.multipart]
            case .sharedEvents: [.events(.single)]
            default: [isSocket ? .webSocket(.lasting) : .events()]
            }
        return endpoint
    }
}

/// The variables of one operation.
struct WireInput: Encodable, Sendable {
    var id: String
    var file: GraphQLUpload?

    init(_ id: String, _ kind: WireKind) {
        self.id = id
        if kind == .upload {
            file = GraphQLUpload(FormFile(Data("hello".utf8), filename: "a.txt", contentType: "text/plain"))
        }
    }
}
