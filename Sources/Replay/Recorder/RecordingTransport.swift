public import BeagleNetHTTP

/// A transport that records its traffic, for code without a client: `EventSource(request, over: transport)`, or
/// WebSockets.
///
/// ```swift
/// let transport = RecordingTransport(CurlTransport(), log: log)
/// let socket = try await transport.openWebSocket(WebSocket.Request(head))
/// ```
/// Each request, also one caused by a redirect, is an entry. The messages of a WebSocket and the events of an event
/// stream are in the entry of their request.
public struct RecordingTransport<Base: HTTPTransport>: HTTPTransport {
    /// The recorded transport.
    public let base: Base
    /// The log that receives the entries.
    public let log: RequestLog

    private let context: TransferRecorder.Context

    /// Creates a transport that records the traffic of another transport.
    public init(_ base: Base, log: RequestLog) {
        self.init(base, log, TransferRecorder.Context())
    }

    init(_ base: Base, _ log: RequestLog, _ context: TransferRecorder.Context) {
        self.base = base
        self.log = log
        self.context = context
    }

    func recorder() -> TransferRecorder { TransferRecorder(log, context) }

    /// Performs the transfer and records it.
    @discardableResult
    public func perform(
        _ request: TransferRequest,
        completion: @escaping @Sendable (Result<TransferResponse, NetworkError>) -> Void
    ) -> any RequestToken {
        let recorder = recorder()
        var transfer = request
        recorder.begin(&transfer)
        return base.perform(transfer) { completion(recorder.take($0, request.delivery)) }
    }

    /// Performs the transfer and records it.
    ///
    /// Cancelling the task cancels the transfer.
    public func perform(_ request: TransferRequest) async throws(NetworkError) -> TransferResponse {
        let recorder = recorder()
        var transfer = request
        recorder.begin(&transfer)
        let result = await Result<TransferResponse, NetworkError>.catching { [transfer] () throws(NetworkError) in
            try await base.perform(transfer)
        }
        return try recorder.take(result, request.delivery).get()
    }
}

extension RecordingTransport: CookieTransport where Base: CookieTransport {
    package var storesCookies: Bool { base.storesCookies }
}

extension RecordingTransport: OfflineTransport where Base: OfflineTransport {
    package var isOffline: Bool { base.isOffline }
}

extension TransferRecorder {
    fileprivate func take(
        _ result: Result<TransferResponse, NetworkError>,
        _ delivery: TransferRequest.Delivery
    ) -> Result<TransferResponse, NetworkError> {
        switch result {
        case .failure(let error): end(error)
        case .success(var response):
            if delivery == .stream {
                response.body = receive(StreamingResponse(response)).body
                return .success(response)
            }
            end(NetworkResponse(response), delivery)
        }
        return result
    }
}

extension RecordingTransport: ComposedTransport {
    package var parts: [any AnyObject & Sendable] {
        let parts = base.identity
        return parts.isEmpty ? [] : [log] + parts
    }
}
