public import BeagleNetHTTP

extension NetworkOperation {
    /// What somebody who watches an operation hears.
    public enum Event: Sendable {
        /// An answer, or a step on the way to one.
        case result(Result)
        /// Why there is no answer this time. Where the operation is watched, another may come when it is run again.
        case failure(NetworkError)
        /// There is nothing more to come.
        case end
    }

    /// The end of an operation: its last result, or its error.
    public typealias Outcome = Swift.Result<Result, NetworkError>

    /// What comes of an operation: its answer, or a step on the way to it.
    public struct Result: Sendable {
        /// What there is, behind one reference: each step of a pipeline that waits keeps room for a result. That is an
        /// allocation for each event of progress, of which there are at most twenty a second.
        public indirect enum Content: Sendable {
            /// A whole answer.
            case response(NetworkResponse)
            /// An answer whose body is still to be read.
            case stream(StreamingResponse)
            /// How far the transfer is.
            case progress(TransferProgress)
            /// What became of the connection that results come over.
            case connection(Connection)
        }

        /// What becomes of the connection of an operation that has many results, as a subscription.
        public enum Connection: Sendable {
            /// The server was asked: results may come from now on.
            case open
            /// It was lost, and the server is asked again after this wait. What happened there meanwhile is not told.
            case interrupted(NetworkError, wait: Duration)
            /// The server has said that nothing more comes.
            case ended
        }

        /// Where an answer is from.
        public enum Source: Sendable, Hashable {
            /// The server, just now.
            case network
            /// A store.
            case cache
            /// Nobody but the app: what the answer will probably be.
            case optimistic
        }

        /// What there is.
        public var content: Content
        /// Where it is from.
        public var source: Source
        /// Whether a newer answer is on its way, or could not be had.
        public var isStale: Bool
        /// Whether the operation has more to give after this, as a subscription has.
        public var hasNext: Bool
        /// Whether its run has ended with it: there is nothing better to wait for, though it may be stale.
        var isLast = false

        /// Describes a result.
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

        /// A whole answer.
        public init(_ response: NetworkResponse, from source: Source = .network) {
            self.init(.response(response), from: source)
        }

        /// The whole answer, where it is one.
        public var response: NetworkResponse? {
            if case .response(let response) = content { return response }
            return nil
        }

        /// How far the transfer is, where that is what it tells.
        public var progress: TransferProgress? {
            if case .progress(let progress) = content { return progress }
            return nil
        }

        /// What became of the connection, where that is what it tells.
        public var connection: Connection? {
            if case .connection(let connection) = content { return connection }
            return nil
        }

        /// The status of the answer, where it is one.
        public var status: HTTPResponse.Status? {
            switch content {
            case .response(let response): response.status
            case .stream(let stream): stream.response.status
            case .progress, .connection: nil
            }
        }

        /// Status and fields of the answer, where it is one.
        var head: HTTPResponse? {
            switch content {
            case .response(let response): response.response
            case .stream(let stream): stream.response
            case .progress, .connection: nil
            }
        }

        /// Whether this is the answer, and no newer one is on its way.
        public var isSettled: Bool { isAnswer && !isStale && !hasNext }

        /// Whether it is an answer, be it a stale one or one of many.
        package var isAnswer: Bool {
            switch content {
            case .response, .stream: true
            case .progress, .connection: false
            }
        }
    }
}

extension NetworkOperation.Result: CustomStringConvertible, CustomReflectable {
    /// What there is and where it is from, without secrets.
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
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
