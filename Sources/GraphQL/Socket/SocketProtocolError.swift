import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A violation of the protocol.
struct SocketProtocolError: Error, Hashable {
    let reason: String

    /// The error for operations.
    var error: NetworkError {
        NetworkError(
            .protocol,
            during: .body,
            "the server violated the WebSocket subprotocol: \(reason)",
            advice: "check that the endpoint serves GraphQL over WebSocket"
        )
    }
}
