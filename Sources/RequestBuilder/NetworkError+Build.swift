package import BeagleNetHTTP

extension NetworkError {
    /// Creates an error for a request that can't be built; nothing was sent.
    static func build(_ kind: Kind, _ message: String, _ advice: String? = nil) -> NetworkError {
        NetworkError(kind, during: .build, message, advice: advice)
    }

    /// Creates an error for a URL that can't be requested.
    static func badURL(_ message: String, _ advice: String? = nil) -> NetworkError {
        build(.badURL, message, advice)
    }

    /// Creates an error for an app's credential if no origin is declared that may receive it.
    ///
    /// - Parameter holder: The source of the credential, with its name.
    package static func undeclaredOrigins(_ holder: String) -> NetworkError {
        badRequest(
            "\(holder), but no origin is declared that may receive it",
            "set the environment's base URL or HttpRequestBuilder.origins, or put the credential in the headers of the "
                + "request"
        )
    }

    /// Creates an error for a method, header or body that can't be sent.
    static func badRequest(_ message: String, _ advice: String? = nil) -> NetworkError {
        build(.badRequest, message, advice)
    }
}
