import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One attempt of an operation whose results come over time, whichever way it goes.
struct SubscriptionAttempt: Sendable {
    /// What comes of it.
    enum Event: Sendable {
        /// The server was asked over a connection that works: results may come.
        case open
        /// A result, as the text of a JSON object with `data`, `errors` or both.
        case payload(Data)
    }

    /// What is asked, and where.
    let plan: SubscriptionPlan
    /// The operation as interceptors made it: a POST to the endpoint, with credentials and other fields.
    let operation: NetworkOperation
    /// What performs its transfers. One that opens WebSockets is a `WebSocketTransport` too.
    let transport: any HTTPTransport
    /// What earlier attempts left.
    let progress: SubscriptionProgress
    /// Hears what comes, on any thread, one event after another.
    let receive: @Sendable (Event) -> Void

    /// What is asked.
    var request: GraphQLRequest { plan.request }
    /// The parameters of the operation as JSON, `query`, `operationName`, `variables`, `extensions`: what its message says,
    /// as interceptors may have changed that, unless it is in words that only HTTP has.
    var parameters: Data {
        if case .parameter = endpoint.documents { return plan.parameters }
        let transfer = operation.transfer
        guard transfer.head.headerFields[.contentEncoding] == nil, let body = transfer.body?.data else {
            return plan.parameters
        }
        return body
    }
    /// Where it goes.
    var endpoint: GraphQLEndpoint { plan.endpoint }
}

/// What is asked with an operation, and where: one object for all its attempts.
final class SubscriptionPlan: Sendable {
    let request: GraphQLRequest
    /// The parameters of the operation as JSON, before interceptors.
    let parameters: Data
    let endpoint: GraphQLEndpoint
    /// Whether a result may come in pieces, so that each has to be looked into.
    let mayComeInPieces: Bool
    /// Whether nothing is asked, and a WebSocket only held open.
    let isHolding: Bool

    /// - Throws: `NetworkError` where the operation is none that can be sent.
    init(_ request: GraphQLRequest, at endpoint: GraphQLEndpoint, isHolding: Bool = false) throws(NetworkError) {
        try request.checkKind()
        self.request = request
        self.endpoint = endpoint
        self.isHolding = isHolding
        parameters = try GraphQLMessage(request, endpoint.documents == .documentID ? .documentID : .text).json
        mayComeInPieces = try request.mayComeInPieces
    }
}

/// A way of performing operations.
protocol SubscriptionCarrier: Sendable {
    /// Performs one attempt; cancelling the task cancels it, and the server is told.
    ///
    /// It returns when the server has said that nothing more comes.
    ///
    /// - Throws: `NetworkError`: of kind `.unsupported` where the server does not know this way, `.graphQL` where it refused
    ///   the operation, and of a kind that is transient where the connection was lost.
    func perform(_ attempt: SubscriptionAttempt) async throws(NetworkError)
}

/// What the attempts of one operation leave for each other.
final class SubscriptionProgress: Sendable {
    private struct State: Sendable {
        var hasBegun = false
        var eventID = ""
        var failure: Int?
    }

    private let state = Lock(State())

    /// - Returns: whether nothing has begun with it before.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
    }

    /// The id of the last event that was given; empty where there was none or events have none.
    var lastEventID: String {
        get { state.withLock { $0.eventID } }
        set { state.withLock { $0.eventID = newValue } }
    }

    /// The number of the last failure of a connection that others shared (`SharedRetry`); nil where there was none.
    var lastFailure: Int? { state.withLock { $0.failure } }

    /// An attempt failed.
    func note(_ error: NetworkError) {
        if let retry = error.sharedRetry { state.withLock { $0.failure = retry.number } }
    }
}
