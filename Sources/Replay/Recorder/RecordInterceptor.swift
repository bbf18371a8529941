public import BeagleNet
import BeagleNetHTTP

/// An interceptor that records network traffic and responses from stores, with an entry for each attempt and each
/// redirect.
///
/// ```swift
/// dependencies.interceptors.add(RecordInterceptor(log))
/// ```
/// It runs below all interceptors that change requests, so entries contain the request that was really sent. Secrets
/// are removed by the log's redactor, or else by the client's. Streamed bodies are recorded as they are read, at the
/// reader's pace; unread parts are not recorded.
public struct RecordInterceptor: RequestObserver {
    /// The interceptor's position in the pipeline, `.recorder`.
    public var place: Pipeline.Place? { .recorder }
    /// The log that receives the entries.
    public let log: RequestLog
    /// Whether recording never waits.
    ///
    /// A lossless log may wait for room, any other drops entries.
    public var neverBlocks: Bool { !log.options.isLossless }

    /// Creates an interceptor that records into a log.
    public init(_ log: RequestLog) {
        self.log = log
    }

    /// Starts to record a request.
    public func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? {
        let context = context(of: operation)
        if let performer = operation.performer {
            operation.performer = RecordingPerformer(performer: performer, log: log, context: context)
            return nil
        }
        let recorder = TransferRecorder(log, context)
        recorder.begin(&operation.transfer)
        return recorder
    }

    /// Records a response from a store.
    public func didUse(stored: NetworkOperation.Result, for operation: NetworkOperation) {
        guard let response = stored.response else { return }
        log.record(stored: response, to: operation.transfer, context(of: operation))
    }

    private func context(of operation: NetworkOperation) -> TransferRecorder.Context {
        TransferRecorder.Context(
            redactor: operation.redactor,
            kind: operation.kind.name,
            operationName: operation.operationName,
            attempt: operation.attempt,
            run: operation.run,
            cacheStatus: operation.run?.forwardReason.map { CacheStatus(forwardReason: $0) },
            parent: operation.run?.lastEntry.withLock { $0 }?.description
        )
    }
}

/// A performer whose requests are recorded individually.
///
/// The messages of a WebSocket that several operations share are in the entry of the operation that opened it.
private struct RecordingPerformer: OperationPerformer {
    let performer: any OperationPerformer
    let log: RequestLog
    let context: TransferRecorder.Context

    var sendsFields: Bool { performer.sendsFields }

    func perform(
        _ operation: NetworkOperation,
        over transport: any HTTPTransport,
        _ emit: @escaping Interceptor.Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        try await performer.perform(operation, over: recorded(transport), emit)
    }

    private func recorded(_ transport: some HTTPTransport) -> any HTTPTransport {
        RecordingTransport(transport, log, context)
    }
}

extension TransferRecorder: RequestObservation {
    func didEnd(_ outcome: inout NetworkOperation.Outcome, of operation: NetworkOperation) {
        outcome = take(outcome, operation.transfer.delivery)
    }

    /// Records an outcome immediately, or at the end of the body if that is streamed.
    func take(
        _ outcome: Result<NetworkOperation.Result, NetworkError>,
        _ delivery: TransferRequest.Delivery
    ) -> Result<NetworkOperation.Result, NetworkError> {
        context.run?.lastEntry.withLock { $0 = entryID }
        switch outcome {
        case .failure(let error): end(error)
        case .success(var result):
            switch result.content {
            case .response(let response): end(response, delivery)
            case .stream(let stream):
                result.content = .stream(receive(stream))
                return .success(result)
            case .progress, .connection: break
            }
        }
        return outcome
    }
}

extension RequestLog {
    /// Records a response from a store, for which no request was sent.
    func record(stored response: NetworkResponse, to transfer: TransferRequest, _ context: TransferRecorder.Context) {
        let session = session
        let now = session.date(of: .now)
        let (message, limit) = (SentMessage(transfer), options.maxBodyBytes)
        let coding = { @Sendable in message.coding(of: $0, with: response.rawHead) }
        let draft = LogJob.ClosureDraft(redactor: context.redactor, coding: coding) {
            let head = response.rawHead
            var received = ReceivedMessage(
                head: head,
                body: LogEntry.Body(.data(response.data), mediaType: head.contentType ?? ""),
                metrics: TransferMetrics()
            ).logged
            received.httpVersion = response.metrics.protocolName
            return LogEntry(
                started: now,
                request: message.logged(nil, sent: 0, limit: limit),
                response: received,
                timings: LogEntry.Timings(send: .zero, wait: .zero, receive: .zero),
                kind: context.kind,
                operationName: context.operationName,
                isFromStore: true,
                cacheStatus: response.cacheStatus?.description
            )
        }
        session.queue.add(
            LogJob(
                exchange: session.nextNumber(),
                work: .end(draft),
                bytes: LogJob.headBytes + response.data.count
            )
        )
    }
}
