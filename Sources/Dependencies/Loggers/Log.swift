/// The messages of Beagle.
public enum Log: LogType {
    /// About requests and responses.
    case network(Network)

    /// A message about requests and responses.
    public enum Network: Sendable, Hashable {
        /// A request is about to be sent. Where its host is known to want https alone, a transport asks the https URL in
        /// place of the http one, and the answer's message tells that.
        case httpRequest(request: NetworkRequest)
        /// A response came, or a request failed. Of a streamed body a second message tells the end.
        case httpResponse(response: NetworkResponse)
        /// A path or URL in a screen names no URL.
        case couldNotBuildUrl(url: String)
        /// A request was made where no client is set.
        case networkClientWasNotConfigured
    }

    /// The name of the case, capitalised.
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

    /// `.debug`, unless the response says otherwise; `.error` if no client is set.
    public var level: LogLevel {
        switch self {
        case .network(.httpRequest), .network(.couldNotBuildUrl): .debug
        case .network(.httpResponse(let response)): response.level
        case .network(.networkClientWasNotConfigured): .error
        }
    }
}
