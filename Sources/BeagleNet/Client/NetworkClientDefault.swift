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
        get { ownBuilder.withLock { $0 } ?? dependencies.settings.builder }
        set { ownBuilder.withLock { $0 = newValue } }
    }

    /// The dependencies given; where a logger was given that is no container, `Beagle.dependencies`.
    public var container: BeagleDependencies { dependencies.container }

    /// Starts a request and returns at once.
    ///
    /// - Returns: the handle that cancels the request; nil where the message could not be built.
    @discardableResult
    public func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
        let scope = Beagle.scope
        do {
            let logged = try prepared(for: request, options: options, delivery: .collect)
            return start(logged, scope, completion)
        } catch {
            Task.detached { scope.run { completion(.failure(error)) } }
            return nil
        }
    }

    /// Performs a request; cancelling the task cancels it.
    ///
    /// - Returns: the response, whose status is in 200...299.
    /// - Throws: `NetworkError`; of kind `.status`, with response and data, for any other status.
    public func executeRequest(_ request: Request) async throws(NetworkError) -> NetworkResponse {
        let logged = try prepared(for: request, options: options, delivery: .collect)
        let response = NetworkResponse(try await perform(logged))
        return try response.result(of: logged.transfer.head).get()
    }

    /// Gives the head of the response as soon as it is there, whatever its status, and the body as it is read.
    ///
    /// Total time and body size are not limited unless `request.options` limits them.
    ///
    /// - Throws: `NetworkError` where there is no response.
    public func stream(_ request: Request) async throws(NetworkError) -> StreamingResponse {
        var options = options
        options.timeouts.total = nil
        options.maxBodyBytes = nil
        let response = try await perform(prepared(for: request, options: options, delivery: .stream))
        return StreamingResponse(response: response.head, body: response.body, url: response.url) {
            TransferEnd(metrics: response.metrics, trailers: response.trailers)
        }
    }

    /// A message ready to go, and who is told of it.
    private struct LoggedTransfer {
        let transfer: TransferRequest
        let log: NetworkLog
        let start = ContinuousClock.now

        /// The outcome, told to the logger.
        func told(_ outcome: Result<TransferResponse, NetworkError>) -> Result<TransferResponse, NetworkError> {
            log.result(outcome, of: transfer.head, since: start)
        }
    }

    private func prepared(
        for request: Request,
        options: TransferOptions,
        delivery: TransferRequest.Delivery
    ) throws(NetworkError) -> LoggedTransfer {
        let settings = dependencies.settings
        var log = NetworkLog(logger: dependencies.logger, redactor: settings.redactor)
        do {
            let builder =
                ownBuilder.withLock { $0 }.map { settings.environment.applied(to: $0) } ?? settings.environmentBuilder
            var transfer = try builder.build(request)
            transfer.options = request.options ?? options
            transfer.delivery = delivery
            transfer.originScopedFields.formUnion(settings.secretFields)
            if case .submitForm = request.type { log.hidesQueries = true }
            return LoggedTransfer(transfer: transfer, log: log)
        } catch {
            var error = error
            error.underlying = error.underlying ?? ClientError.invalidHttpRequest
            log.refusal(error, of: request)
            throw error
        }
    }

    private func start(
        _ logged: LoggedTransfer,
        _ scope: Beagle.Scope,
        _ completion: @escaping RequestCompletion
    ) -> any RequestToken {
        logged.log.request(logged.transfer)
        let once = OnceCompletion<TransferResponse>(isHeld: true) { outcome in
            scope.run {
                let outcome = logged.told(outcome)
                completion(outcome.flatMap { NetworkResponse($0).result(of: logged.transfer.head) })
            }
        }
        let token = transport.perform(logged.transfer) { once.give($0) }
        once.open()
        return token
    }

    private func perform(_ logged: LoggedTransfer) async throws(NetworkError) -> TransferResponse {
        guard !Task.isCancelled else { throw .cancelledBeforeStart }
        logged.log.request(logged.transfer)
        let outcome: Result<TransferResponse, NetworkError>
        do {
            outcome = .success(try await transport.perform(logged.transfer))
        } catch {
            outcome = .failure(error)
        }
        return try logged.told(outcome).get()
    }
}
