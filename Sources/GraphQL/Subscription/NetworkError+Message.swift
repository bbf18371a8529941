import BeagleNetHTTP

extension NetworkError {
    /// A message of a subscription has more bytes than `GraphQLEndpoint.maxMessageBytes` allows.
    static func messageTooLarge(_ maxMessageBytes: Int) -> NetworkError {
        NetworkError(
            .tooLarge,
            during: .body,
            "a message of the subscription is larger than the \(maxMessageBytes) bytes allowed",
            advice: "increase GraphQLEndpoint.maxMessageBytes, or request less data per result"
        )
    }
}
