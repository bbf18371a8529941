import BeagleNet
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request from start to end, including all redirects. The caller holds it as its request token.
///
/// `@unchecked Sendable` is sound because everything but the constant `session` is accessed only on the session's
/// serial queue, after `init`. `begin()`, `cancel()` and `raise(to:)`, which any thread may call, only add a block to
/// it.
final class SessionTransfer: RequestToken, @unchecked Sendable {
    typealias Completion = @Sendable (Result<TransferResponse, NetworkError>) -> Void

    private let session: TransferSession
    private var request: TransferRequest
    private var completion: Completion?
    private var metrics = TransferMetrics()
    private var phase = NetworkError.Phase.queue
    private var started = ContinuousClock.now
    private var reading: Task<Void, Never>?
    private var task: URLSessionDataTask?
    private var head: HTTPResponse?
    private var next: TransferRequest?
    private var body = Data()
    private var file: FileSink?
    private var waitTimer: Timer?
    private var deadline: Timer?
    private var pace = ProgressPace()
    /// Whether there is progress that hasn't been reported.
    private var isProgressDue = false

    init(_ request: TransferRequest, in session: TransferSession, completion: @escaping Completion) {
        self.request = request
        self.session = Self.session(for: request, session)
        self.completion = completion
    }

    /// Returns a separate session for a request that must not be sent twice. On Linux `URLSession` uses libcurl, which
    /// resends any request if a reused connection is dead, so such a request needs a new connection.
    private static func session(for request: TransferRequest, _ shared: TransferSession) -> TransferSession {
        #if canImport(FoundationNetworking)
            if !request.resendPolicy.allows(request.head) { return TransferSession() }
        #endif
        return shared
    }

    func begin() {
        session.queue.async {
            if let control = self.request.priorityControl { self.request.options.priority = control.attach(self) }
            self.prepare()
        }
    }

    func cancel() {
        session.queue.async { self.fail(.cancelled(during: self.phase)) }
    }

    func raise(to priority: Priority) {
        session.queue.async {
            guard priority > self.request.options.priority else { return }
            self.request.options.priority = priority
            self.task?.priority = priority.ofTask
        }
    }

    // MARK: on the queue

    private func prepare() {
        guard completion != nil else { return }
        if let unsupported = request.options.unsupportedOptionError ?? request.unsupportedOptionError {
            return fail(unsupported)
        }
        deadline = limit("total", request.options.timeouts.total)
        guard let body = request.body, body.data == nil else { return send() }
        reading = Task {
            do throws(NetworkError) {
                let data = try await body.collect()
                if let length = body.length, length != data.count {
                    throw .wrongLength(Int64(data.count), declared: length)
                }
                session.queue.async {
                    self.request.body = HTTPBody(data)
                    self.send()
                }
            } catch {
                session.queue.async { self.fail(error) }
            }
        }
    }

    private func send() {
        guard completion != nil else { return }
        do throws(NetworkError) {
            var message = try URLRequest(request)
            message.timeoutInterval = Self.unlimited
            started = .now
            phase = .firstByte
            waitTimer = limit("firstByte", request.options.timeouts.firstByte)
            task = session.start(message, for: self, priority: request.options.priority.ofTask)
        } catch {
            fail(error)
        }
    }

    /// A year, because we enforce the timeouts. Not infinity, because URLSession on Linux converts the value to
    /// milliseconds.
    private static let unlimited: TimeInterval = 31_536_000

    func take(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        metrics.firstByte = ContinuousClock.now - started
        let head = HTTPResponse(response)
        self.head = head
        phase = .body
        wait()
        do throws(NetworkError) {
            next = try Redirect.next(after: RawHead(head), to: request, followed: metrics.redirects)
            if next == nil, case .file(let path) = request.delivery { file = try FileSink(path: path, mayBlock: false) }
        } catch {
            fail(error)
        }
    }

    func take(_ data: Data, of task: URLSessionTask) {
        wait()
        guard next == nil else { return }
        metrics.decodedBytes += Int64(data.count)
        if let limit = request.options.maxBodyBytes, metrics.decodedBytes > Int64(limit) {
            return fail(
                NetworkError(.tooLarge, during: .body, "the body is larger than the \(limit) bytes allowed")
            )
        }
        do {
            if let file {
                try data.withUnsafeBytes { try file.write($0) }
            } else {
                body.append(data)
            }
            reportProgress(of: task)
        } catch {
            fail(NetworkError(wrapping: error))
        }
    }

    func reportProgress(of task: URLSessionTask) {
        isProgressDue = !pace.isDue()
        if !isProgressDue { notifyProgress(of: task) }
    }

    private func notifyProgress(of task: URLSessionTask) {
        request.onProgress?(
            TransferRequest.Progress(
                bytesSent: task.countOfBytesSent,
                bytesToSend: request.body?.length ?? 0,
                bytesReceived: metrics.decodedBytes,
                bytesToReceive: head?.announcedLength
            )
        )
    }

    func conclude(_ task: URLSessionTask, _ error: (any Error)?) {
        if head == nil, let response = task.response { take(response) }
        guard completion != nil else { return }
        if isProgressDue { notifyProgress(of: task) }
        metrics.total = ContinuousClock.now - started
        metrics.bytesSent = task.countOfBytesSent
        metrics.bytesReceived = metrics.decodedBytes
        self.task = nil
        if let error {
            fail((error as? URLError).map { NetworkError($0, during: phase) } ?? NetworkError(wrapping: error))
        } else if let next {
            follow(next)
        } else if let head {
            succeed(head)
        } else {
            fail(NetworkError(.protocol, during: .firstByte, "the response is not HTTP"))
        }
    }

    private func follow(_ next: TransferRequest) {
        var next = next
        if let head {
            next.notifyRedirect(head, after: metrics.redirects)
            request.onHop?(head, metrics, next)
        }
        metrics.redirects += 1
        metrics.hops.append(
            TransferMetrics.Hop(
                method: request.head.method.rawValue,
                url: request.head.urlText,
                status: head?.status.code ?? 0,
                duration: metrics.total
            )
        )
        request = next
        self.next = nil
        head = nil
        send()
    }

    private func succeed(_ head: HTTPResponse) {
        do throws(NetworkError) {
            try file?.commit()
            let url = request.head.urlText
            end(.success(TransferResponse(head: head, body: HTTPBody(body), url: url, metrics: metrics)))
        } catch {
            fail(error)
        }
    }

    private func fail(_ error: NetworkError) {
        var error = error
        error.request = request.head
        error.resendPolicy = request.resendPolicy
        error.response = head
        error.metrics = metrics
        error.data = body.isEmpty ? nil : body
        if head != nil { error.url = request.head.urlText }
        if metrics.redirects > 0 { error.mayHaveReachedServer = true }
        end(.failure(error))
    }

    /// Delivers the first result and releases everything else; later results are ignored.
    private func end(_ result: Result<TransferResponse, NetworkError>) {
        guard let completion else { return }
        self.completion = nil
        reading?.cancel()
        if let task { session.end(task) }
        waitTimer = nil
        deadline = nil
        task = nil
        file = nil
        body = Data()
        request.body = nil
        request.observers = nil
        request.priorityControl?.detach()
        completion(result)
    }

    // MARK: time limits

    private func wait() {
        waitTimer = limit("idle", request.options.timeouts.idle)
    }

    private func limit(_ name: String, _ duration: Duration?) -> Timer? {
        guard let duration else { return nil }
        return Timer(after: duration, on: session.queue) { [weak self] in
            guard let self else { return }
            self.fail(
                NetworkError(
                    .timeout,
                    during: self.phase,
                    "the transfer exceeded Timeouts.\(name), which is \(duration)",
                    advice: "increase Timeouts.\(name), or check the server"
                )
            )
        }
    }
}

/// A timer that is cancelled when it is released.
private final class Timer {
    private let work: DispatchWorkItem

    init(after duration: Duration, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        work = DispatchWorkItem(block: body)
        queue.asyncAfter(deadline: .now() + duration / .seconds(1), execute: work)
    }

    deinit {
        work.cancel()
    }
}

extension Priority {
    /// The priority of the task; its effect is up to `URLSession`.
    fileprivate var ofTask: Float {
        switch self {
        case .prefetch, .low: URLSessionTask.lowPriority
        case .normal: URLSessionTask.defaultPriority
        case .high, .interactive: URLSessionTask.highPriority
        }
    }
}

extension HTTPResponse {
    /// The length of the body, if the server announced it and the body isn't encoded.
    fileprivate var announcedLength: Int64? {
        headerFields.contains(.contentEncoding) ? nil : headerFields[single: .contentLength].flatMap { Int64($0) }
    }
}
