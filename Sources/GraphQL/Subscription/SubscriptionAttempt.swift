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
    /// The transport of its transfers. If it can open WebSockets, it is also a `WebSocket.Transport`.
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
