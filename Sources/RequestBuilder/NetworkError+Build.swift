import BeagleNetHTTP

extension NetworkError {
    /// An error of a message that cannot be made; nothing was sent.
    static func build(_ kind: Kind, _ message: String, _ advice: String? = nil) -> NetworkError {
        NetworkError(kind, during: .build, message, advice: advice)
    }

    /// An error of a URL that cannot be asked.
    static func badURL(_ message: String, _ advice: String? = nil) -> NetworkError {
        build(.badURL, message, advice)
    }

    /// An error of a method, header or body that cannot be sent.
    static func badRequest(_ message: String, _ advice: String? = nil) -> NetworkError {
        build(.badRequest, message, advice)
    }
}
