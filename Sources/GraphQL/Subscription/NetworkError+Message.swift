import BeagleNetHTTP

extension NetworkError {
    /// Returns an error for a message of a subscription that exceeds `GraphQLEndpoint.maxMessageBytes`.
    static func messageTooLarge(_ maxMessageBytes: Int) -> NetworkError {
        NetworkError(
            .tooLarge,
            during: .body,
            "a message of the subscription is larger than the \(maxMessageBytes) bytes allowed",
            advice: "increase GraphQLEndpoint.maxMessageBytes, or request less data per result"
        )
    }
}
