/// The log messages of Beagle.
public enum Log: LogType {
    /// A message about requests and responses.
    case network(Network)

    /// A message about requests and responses.
    public enum Network: Sendable, Hashable {
        /// A request is about to be sent.
        ///
        /// If its host is known to require HTTPS, a transport uses HTTPS instead of HTTP, and the message about the
        /// response shows that URL.
        case httpRequest(request: NetworkRequest)
        /// A response was received, or a request failed.
        ///
        /// A second message is logged at the end of a streamed body.
        case httpResponse(response: NetworkResponse)
        /// A path or URL in a screen doesn't form a URL.
        case couldNotBuildUrl(url: String)
        /// A request was made, but no client is set.
        case networkClientWasNotConfigured
    }

    /// The name of the case, capitalized.
    public var category: String { "Network" }

    /// The message in one line.
    public var message: String {
        switch self {
        case .network(.httpRequest(let request)): request.description
        case .network(.httpResponse(let response)): response.description
        case .network(.couldNotBuildUrl(let url)): "Could not build a URL from \(url)"
        case .network(.networkClientWasNotConfigured): "The network client was not configured"
        }
    }

    /// The level: that of a response, `.error` if no client is set, otherwise `.debug`.
    public var level: LogLevel {
        switch self {
        case .network(.httpRequest), .network(.couldNotBuildUrl): .debug
        case .network(.httpResponse(let response)): response.level
        case .network(.networkClientWasNotConfigured): .error
        }
    }
}
