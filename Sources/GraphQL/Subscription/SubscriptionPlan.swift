import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
