public import BeagleNetCurl
public import BeagleNetDependencies
public import BeagleNetHTTP
public import BeagleNetRequestBuilder

/// The client of an app: builds the message, hands it to the transport, and logs both ends without secrets.
///
/// The completion of a request is called exactly once, also where the message cannot be built, where the request is
/// cancelled and where the client is released meanwhile; never from inside `executeRequest`, and in the dependency
/// scope in which the request was made. It runs on the transport's thread: return quickly, or use `deliverOn:`.
public final class NetworkClientDefault: NetworkClient {
    /// What it needs of a container.
    public typealias Dependencies = DependencyLogger

    /// Why a request has no result, as `NetworkError.error`.
    public enum ClientError: Swift.Error, Sendable, Hashable {
        /// The status is outside 200...299.
        case invalidHttpResponse
        /// The message could not be built; nothing was sent.
        case invalidHttpRequest
    }

    /// Timeouts, limits and policies of requests that bring none of their own.
    public let options: TransferOptions
    private let dependencies: FollowedDependencies
    private let transport: any HTTPTransport
    private let ownBuilder = Lock<HttpRequestBuilder?>(nil)

    /// A client with a transport of its own.
    ///
    /// - Parameters:
    ///   - dependencies: whose logger is used, as it is at each request. Of `BeagleDependencies` builder, environment
    ///     and redactor are used likewise, and it is not kept alive: afterwards they stay as they were last. For anything
    ///     else they are those of `Beagle.dependencies`.
    ///   - transport: what performs the transfers.
    ///   - options: timeouts, limits and policies of requests that bring none of their own.
    public init(
        dependencies: any Dependencies,
        transport: any HTTPTransport = CurlTransport(),
        options: TransferOptions = TransferOptions()
    ) {
        self.dependencies = FollowedDependencies(dependencies)
        self.transport = transport
        self.options = options
    }

    /// Makes the messages, from the next request on: the builder set here, else the container's. May be set at any
    /// time from any thread.
    public var httpRequestBuilder: HttpRequestBuilder {
        get { ownBuilder.withLock { $0 } ?? dependencies.httpRequestBuilder }
        set { ownBuilder.withLock { $0 = newValue } }
    }

    /// The dependencies given; where a logger was given that is no container, `Beagle.dependencies`.
    public var container: BeagleDependencies { dependencies.container }

    /// Starts a request and returns at once.
    ///
    /// - Returns: the handle that cancels the request; nil where the message could not be built.
    @discardableResult
    public func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
        start(request, options: options, delivery: .collect) { message, result in
            completion(result.flatMap { NetworkResponse($0).result(of: message) })
        }
    }

    /// Gives the head of the response as soon as it is there, whatever its status, and the body as it is read.
    ///
    /// Total time and body size are not limited unless `request.options` limits them.
    ///
    /// - Throws: `NetworkError` where there is no response.
    public func stream(_ request: Request) async throws(NetworkError) -> StreamingResponse {
        guard !Task.isCancelled else { throw .cancelledBeforeStart }
        var options = options
        options.timeouts.total = nil
        options.maxBodyBytes = nil
        let result = await withCancellableToken { completion in
            start(request, options: options, delivery: .stream) { completion($1) }
        }
        let response = try result.get()
        return StreamingResponse(response: response.head, body: response.body, url: response.url) { response.metrics }
    }

    private typealias Completion = @Sendable (HTTPRequest?, Result<TransferResponse, NetworkError>) -> Void

    /// The completion gets the message with the result, where there is one.
    private func start(
        _ request: Request,
        options: TransferOptions,
        delivery: TransferRequest.Delivery,
        completion: @escaping Completion
    ) -> (any RequestToken)? {
        let scope = Beagle.scope
        var transfer: TransferRequest
        do {
            transfer = try dependencies.environment.applied(to: httpRequestBuilder).build(request)
        } catch {
            refuse(request, error, scope, completion)
            return nil
        }
        transfer.options = request.options ?? options
        transfer.delivery = delivery
        transfer.originScopedFields.formUnion(dependencies.redactor.secrets.compactMap(HTTPField.Name.init(_:)))
        let isForm = if case .submitForm = request.type { true } else { false }
        dependencies.log(ofForm: isForm).request(transfer)
        let message = transfer.head
        let started = ContinuousClock.now
        let completion = OnceCompletion<TransferResponse>(isHeld: true) { [dependencies] result in
            scope.run {
                completion(message, dependencies.log(ofForm: isForm).result(result, of: message, since: started))
            }
        }
        let token = transport.perform(transfer) { completion.give($0) }
        completion.open()
        return token
    }

    private func refuse(
        _ request: Request,
        _ error: NetworkError,
        _ scope: Beagle.Scope,
        _ completion: @escaping Completion
    ) {
        var error = error
        error.underlying = error.underlying ?? ClientError.invalidHttpRequest
        dependencies.log(ofForm: false).refusal(error, of: request)
        Task.detached { [error] in
            scope.run { completion(nil, .failure(error)) }
        }
    }
}

extension NetworkResponse {
    /// A response that the transport collected.
    fileprivate init(_ response: TransferResponse) {
        self.init(
            data: response.body.data ?? Data(),
            response: response.head,
            url: response.url,
            metrics: response.metrics
        )
    }
}
