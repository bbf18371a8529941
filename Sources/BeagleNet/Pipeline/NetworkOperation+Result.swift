public import BeagleNetHTTP

extension NetworkOperation {
    /// An event that a subscriber to an operation receives.
    public enum Event: Sendable {
        /// A response, or a step towards one.
        case result(Result)
        /// The error of a run. If the operation is watched, a later run may still have a result.
        case failure(NetworkError)
        /// The end: no further events follow.
        case end
    }

    /// The end of an operation: its last result, or its error.
    public typealias Outcome = Swift.Result<Result, NetworkError>

    /// A result of an operation: a response, or a step towards one.
    public struct Result: Sendable {
        /// The content of a result.
        ///
        /// It is behind one reference, because each waiting step of a pipeline reserves space for a result. This costs
        /// an allocation for each progress event, of which there are at most twenty a second.
        public indirect enum Content: Sendable {
            /// A complete response.
            case response(NetworkResponse)
            /// A response whose body is still to be read.
            case stream(StreamingResponse)
            /// The progress of the transfer.
            case progress(TransferRequest.Progress)
            /// A change of the connection that delivers results.
            case connection(Connection)
        }

        /// A change of the connection of an operation that has many results, such as a subscription.
        public enum Connection: Sendable {
            /// The request was sent: results may arrive from now on.
            case open
            /// The connection was lost and reconnects after this wait. Events that the server sends in the meantime are
            /// lost.
            case interrupted(NetworkError, wait: Duration)
            /// The server has ended the stream of results.
            case ended
        }

        /// The origin of a response.
        public enum Source: Sendable, Hashable {
            /// The server, just now.
            case network
            /// A store.
            case cache
            /// The app's prediction of the response.
            case optimistic
        }

        /// The content of the result.
        public var content: Content
        /// The source of the response.
        public var source: Source
        /// Whether a newer response is on its way or couldn't be obtained.
        public var isStale: Bool
        /// Whether more results follow this one, as in a subscription.
        public var hasNext: Bool
        /// Whether the run has ended with this result: no better one follows, even if this one is stale.
        var isLast = false

        /// Creates a result.
        public init(
            _ content: Content,
            from source: Source = .network,
            isStale: Bool = false,
            hasNext: Bool = false
        ) {
            self.content = content
            self.source = source
            self.isStale = isStale
            self.hasNext = hasNext
        }

        /// Creates a result with a complete response.
        public init(_ response: NetworkResponse, from source: Source = .network) {
            self.init(.response(response), from: source)
        }

        /// The complete response, or `nil` if the content isn't one.
        public var response: NetworkResponse? {
            if case .response(let response) = content { return response }
            return nil
        }

        /// The progress of the transfer, or `nil` if the content is something else.
        public var progress: TransferRequest.Progress? {
            if case .progress(let progress) = content { return progress }
            return nil
        }

        /// The change of the connection, or `nil` if the content is something else.
        public var connection: Connection? {
            if case .connection(let connection) = content { return connection }
            return nil
        }

        /// The status of the response, or `nil` if the content isn't one.
        public var status: HTTPResponse.Status? {
            switch content {
            case .response(let response): response.status
            case .stream(let stream): stream.response.status
            case .progress, .connection: nil
            }
        }

        /// The status and fields of the response, or `nil` if the content isn't one.
        var head: HTTPResponse? {
            switch content {
            case .response(let response): response.response
            case .stream(let stream): stream.response
            case .progress, .connection: nil
            }
        }

        /// Whether this is a fresh response after which no further result follows.
        public var isSettled: Bool { isResponse && !isStale && !hasNext }

        /// Whether this is a response, including a stale one or one of many.
        package var isResponse: Bool {
            switch content {
            case .response, .stream: true
            case .progress, .connection: false
            }
        }
    }
}

extension NetworkOperation.Result: CustomStringConvertible, CustomReflectable {
    /// The source and content, without secrets.
    public var description: String {
        let marks = ["\(source)", isStale ? "stale" : nil, hasNext ? "more to come" : nil].compactMap(\.self)
        let text =
            switch content {
            case .response(let response): "\(response)"
            case .stream(let response): "\(response)"
            case .progress(let progress): "\(progress)"
            case .connection(let connection): "\(connection)"
            }
        return "\(marks.joined(separator: ", ")): \(text)"
    }
    /// A mirror without children, because `dump` would show their secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
