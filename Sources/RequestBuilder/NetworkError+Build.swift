package import BeagleNetHTTP

extension NetworkError {
    /// An error of a message that cannot be made; nothing was sent.
    static func build(_ kind: Kind, _ message: String, _ advice: String? = nil) -> NetworkError {
        NetworkError(kind, during: .build, message, advice: advice)
    }

    /// An error of a URL that cannot be asked.
    static func badURL(_ message: String, _ advice: String? = nil) -> NetworkError {
        build(.badURL, message, advice)
    }

    /// An error of a credential of the app where no origin is declared that may receive it.
    ///
    /// - Parameter holder: what has which credential.
    package static func undeclaredOrigins(_ holder: String) -> NetworkError {
        badRequest(
            "\(holder), but no origin is declared that may receive it",
            "set the environment's base URL or HttpRequestBuilder.origins, or put the credential in the headers of the "
                + "request"
        )
    }

    /// An error of a method, header or body that cannot be sent.
    static func badRequest(_ message: String, _ advice: String? = nil) -> NetworkError {
        build(.badRequest, message, advice)
    }
}
