public import BeagleNetHTTP
import BeagleNetRequestBuilder

/// A form on its way, for a screen that shows how it goes and offers to try again.
///
/// ```swift
/// let submission = client.submission(of: form, to: "/signup")
/// for await state in submission.states {
///     switch state {
///     case .started: showSpinner()
///     case .finished: hideSpinner()
///     case .success(let reply): show(reply)
///     case .error(let failure): show(failure, retry: submission.canRetry ? { submission.retry() } : nil)
///     }
/// }
/// ```
public final class FormSubmission: Sendable {
    /// How it goes. A run is `started`, `finished`, and then `success` or `error`.
    public enum State: Sendable {
        /// The form is checked and sent.
        case started
        /// Nothing moves any more; what came of it follows.
        case finished
        /// The server accepted the form. The last state there is.
        case success(FormReply)
        /// It did not. `retry()` begins another run.
        case error(Failure)
    }

    /// Why a form was not accepted.
    public enum Failure: Error, Sendable {
        /// Inputs are wrong; the reply's `errors` tell which.
        case refused(FormReply)
        /// There is no reply. Where the error `isKept` an `Outbox` sends the form later: tell the person so.
        case network(NetworkError)
    }

    private struct Progress {
        /// The states of the latest run.
        var states: [State] = []
        var listeners: [Int: AsyncStream<State>.Continuation] = [:]
        var lastListener = 0
        var task: Task<Void, Never>?
        /// How often something had been put into the form when the latest run began.
        var changes = 0
    }

    private let progress = Lock(Progress())
    private let form: Form
    /// Whether the app has brought an idempotency key of its own.
    private let hasKey: Bool
    private let submit: @Sendable () async throws(NetworkError) -> FormReply

    init(_ form: Form, hasKey: Bool, submit: @escaping @Sendable () async throws(NetworkError) -> FormReply) {
        self.form = form
        self.hasKey = hasKey
        self.submit = submit
        begin()
    }

    deinit {
        for listener in progress.withLock({ $0.listeners.values }) { listener.finish() }
    }

    /// The states of the latest run so far, and all that follow: those of further runs too. It ends behind `success`, and
    /// where nobody holds the submission any more.
    public var states: AsyncStream<State> {
        let (stream, continuation) = AsyncStream.makeStream(of: State.self)
        let (id, isOver) = progress.withLock { progress in
            progress.lastListener += 1
            for state in progress.states { continuation.yield(state) }
            let isOver = progress.states.last?.isSuccess ?? false
            if !isOver { progress.listeners[progress.lastListener] = continuation }
            return (progress.lastListener, isOver)
        }
        if isOver { continuation.finish() }
        continuation.onTermination = { [weak self] _ in
            self?.progress.withLock { $0.listeners[id] = nil }
        }
        return stream
    }

    /// The latest state.
    public var state: State { progress.withLock { $0.states.last ?? .started } }

    /// Whether `retry()` would send the form: it has failed, and either the server cannot have accepted it, or sending it
    /// again does what sending it once does: its method is idempotent (RFC 9110, 9.2.2), or it has an idempotency key,
    /// which is another one when something was put in since.
    ///
    /// What an `Outbox` has kept (`NetworkError.isKept`) it sends itself. What may have been accepted only the person can
    /// decide to send once more: submit the form anew for that.
    public var canRetry: Bool {
        progress.withLock { mayBegin($0) }
    }

    /// Submits the form as it is filled in now, if `canRetry`, also where another submission of it was accepted meanwhile.
    ///
    /// - Returns: whether another run has begun.
    @discardableResult
    public func retry() -> Bool { begin(isRetry: true) }

    /// Cancels the run that is under way, which ends in an error of kind `.cancelled`.
    public func cancel() {
        progress.withLock { $0.task }?.cancel()
    }

    private func mayBegin(_ progress: Progress) -> Bool {
        guard case .error(let failure) = progress.states.last else { return false }
        guard case .network(let error) = failure else { return true }
        if error.isKept { return false }
        if !error.mayHaveReachedServer || error.refusesTheMessage { return true }
        return form.method != .post || hasKey || (form.sendsIdempotencyKey && form.changes == progress.changes)
    }

    @discardableResult
    private func begin(isRetry: Bool = false) -> Bool {
        progress.withLock { progress in
            guard progress.states.isEmpty || mayBegin(progress) else { return false }
            progress.states = []
            progress.changes = form.changes
            Self.post(.started, &progress)
            progress.task = Task { self.end(await self.run(isRetry: isRetry)) }
            return true
        }
    }

    private func run(isRetry: Bool) async -> State {
        if isRetry { form.allowResubmission() }
        do throws(NetworkError) {
            let reply = try await submit()
            return reply.isAccepted ? .success(reply) : .error(.refused(reply))
        } catch {
            return .error(.network(error))
        }
    }

    private func end(_ outcome: State) {
        let ended = progress.withLock { progress in
            progress.task = nil
            Self.post(.finished, &progress)
            Self.post(outcome, &progress)
            return outcome.isSuccess ? Array(progress.listeners.values) : []
        }
        for listener in ended { listener.finish() }
    }

    /// Under the lock, so that all hear the states in order; `yield` runs nobody's code.
    private static func post(_ state: State, _ progress: inout Progress) {
        progress.states.append(state)
        for listener in progress.listeners.values { listener.yield(state) }
    }
}

extension FormSubmission.State {
    fileprivate var isSuccess: Bool {
        if case .success = self { return true }
        return false
    }
}

extension NetworkClient {
    /// Submits a form and tells how it goes; it is under way when this returns. See `submit(_:to:)` for the parameters.
    public func submission(
        of form: Form,
        to target: some RequestTarget,
        query: [URLQueryItem] = [],
        headers: [String: String] = [:],
        timeout: Duration? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) -> FormSubmission {
        FormSubmission(form, hasKey: headers.hasIdempotencyKey) { () throws(NetworkError) in
            try await submit(form, to: target, query: query, headers: headers, timeout: timeout, progress: progress)
        }
    }
}

extension NetworkError {
    /// Whether the server said that it did not do what it was asked: a gateway that gave up (408, 5xx) does not know.
    fileprivate var refusesTheMessage: Bool {
        guard kind == .status, let status = response?.status else { return false }
        return status.kind == .clientError && status != .requestTimeout
    }
}
