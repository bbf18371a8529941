import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One attempt of an operation with several results, over any transport.
struct SubscriptionAttempt: Sendable {
    /// An event of an attempt.
    enum Event: Sendable {
        /// The operation was sent over a working connection, and results may arrive.
        case open
        /// A result as the text of a JSON object with `data`, `errors` or both.
        case payload(Data)
    }

    /// The operation and its endpoint.
    let plan: SubscriptionPlan
    /// The operation after all interceptors: a POST to the endpoint, with credentials and other header fields.
    let operation: NetworkOperation
    /// The transport of its transfers. If it can open WebSockets, it is also a `WebSocketTransport`.
    let transport: any HTTPTransport
    /// The state shared with earlier attempts.
    let progress: SubscriptionProgress
    /// Receives the events in order, on any thread.
    let receive: @Sendable (Event) -> Void

    /// The operation before interceptors.
    var request: GraphQLRequest { plan.request }
    /// The request parameters as JSON: `query`, `operationName`, `variables` and `extensions`. They come from the
    /// message's body, which interceptors may have changed, unless its form only works over HTTP.
    var parameters: Data {
        if case .parameter = endpoint.documentStyle { return plan.parameters }
        let transfer = operation.transfer
        guard transfer.head.headerFields[.contentEncoding] == nil, let body = transfer.body?.data else {
            return plan.parameters
        }
        return body
    }
    /// The endpoint of the operation.
    var endpoint: GraphQLEndpoint { plan.endpoint }
}

/// An operation and its endpoint, shared by all attempts.
final class SubscriptionPlan: Sendable {
    let request: GraphQLRequest
    /// The request parameters as JSON, before interceptors.
    let parameters: Data
    let endpoint: GraphQLEndpoint
    /// Whether results may be incremental, so that each payload must be parsed.
    let usesIncrementalDelivery: Bool
    /// Whether the operation only holds a WebSocket open.
    let isHolding: Bool

    /// - Throws: `NetworkError` if the operation can't be sent.
    init(_ request: GraphQLRequest, at endpoint: GraphQLEndpoint, isHolding: Bool = false) throws(NetworkError) {
        try request.checkKind()
        self.request = request
        self.endpoint = endpoint
        self.isHolding = isHolding
        parameters = try GraphQLMessage(request, endpoint.documentStyle == .documentID ? .documentID : .text).json
        usesIncrementalDelivery = try request.usesIncrementalDelivery
    }
}

/// A type that performs operations over one transport.
protocol AttemptPerformer: Sendable {
    /// Performs one attempt. Cancelling the task cancels it and notifies the server.
    ///
    /// Returns when the server has completed the operation.
    ///
    /// - Throws: `NetworkError`: of kind `.unsupported` if the server doesn't support this transport, `.graphQL` if it
    ///   refused the operation, and of a transient kind if the connection was lost.
    func perform(_ attempt: SubscriptionAttempt) async throws(NetworkError)
}

/// The state that the attempts of an operation share.
final class SubscriptionProgress: Sendable {
    private struct State: Sendable {
        var hasStarted = false
        var eventID = ""
        var failure: Int?
    }

    private let state = Lock(State())

    /// - Returns: Whether this is the first call.
    func start() -> Bool {
        state.withLock { state in
            defer { state.hasStarted = true }
            return !state.hasStarted
        }
    }

    /// The ID of the last delivered event; empty if no event had an ID.
    var lastEventID: String {
        get { state.withLock { $0.eventID } }
        set { state.withLock { $0.eventID = newValue } }
    }

    /// The number of the last failure of a shared connection (`SharedRetry`), or `nil` if there was none.
    var lastFailure: Int? { state.withLock { $0.failure } }

    /// Records the failure of an attempt.
    func note(_ error: NetworkError) {
        if let retry = error.sharedRetry { state.withLock { $0.failure = retry.number } }
    }
}
