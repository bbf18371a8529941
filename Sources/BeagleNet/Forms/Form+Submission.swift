public import BeagleNetHTTP
import BeagleNetRequestBuilder

extension Form {
    /// A submission of a form, for a screen that shows its state and offers a retry.
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
    public final class Submission: Sendable {
        /// The state of a submission; each run is `started`, `finished`, and then `success` or `error`.
        public enum State: Sendable {
            /// The form is being validated and sent.
            case started
            /// The run has ended; its outcome follows.
            case finished
            /// The last state: the server accepted the form.
            case success(Reply)
            /// A failure, after which `retry()` starts another run.
            case error(Failure)
        }

        /// The reason why a form wasn't accepted.
        public enum Failure: Error, Sendable {
            /// Inputs are invalid; the reply's `errors` list them.
            case refused(Reply)
            /// The error of a submission without a reply.
            ///
            /// If it `isStoredInOutbox`, an `Outbox` sends the form later; inform the user.
            case network(NetworkError)
        }

        private struct Progress {
            /// The states of the latest run.
            var states: [State] = []
            var listeners: [Int: AsyncStream<State>.Continuation] = [:]
            var lastListener = 0
            var task: Task<Void, Never>?
            /// The number of changes to the form at the start of the latest run.
            var changes = 0
        }

        private let progress = Lock(Progress())
        private let form: Form
        /// Whether the app sends its own idempotency key.
        private let hasKey: Bool
        private let submit: @Sendable () async throws(NetworkError) -> Reply

        init(_ form: Form, hasKey: Bool, submit: @escaping @Sendable () async throws(NetworkError) -> Reply) {
            self.form = form
            self.hasKey = hasKey
            self.submit = submit
            begin()
        }

        deinit {
            for listener in progress.withLock({ $0.listeners.values }) { listener.finish() }
        }

        /// The states of the latest run so far and all later ones, including those of further runs.
        ///
        /// The stream ends after `success`, and when the submission is released.
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

        /// Whether `retry()` would send the form again.
        ///
        /// It would if the form has failed, and either the server can't have accepted it or sending it twice has the
        /// same effect as once: the method is idempotent (RFC 9110, 9.2.2), or the request has an idempotency key,
        /// which changes if the form was edited since.
        ///
        /// A form that an `Outbox` has stored (`NetworkError.isStoredInOutbox`) is sent by the outbox. If the server
        /// may have accepted the form, only the user can decide to send it again: start a new submission for that.
        public var canRetry: Bool {
            progress.withLock { mayBegin($0) }
        }

        /// Submits the form with its current values if `canRetry`, even if another submission was accepted in the
        /// meantime.
        ///
        /// - Returns: Whether another run has started.
        @discardableResult
        public func retry() -> Bool { begin(isRetry: true) }

        /// Cancels the current run, which ends in an error of kind `.cancelled`.
        public func cancel() {
            progress.withLock { $0.task }?.cancel()
        }

        private func mayBegin(_ progress: Progress) -> Bool {
            guard case .error(let failure) = progress.states.last else { return false }
            guard case .network(let error) = failure else { return true }
            if error.isStoredInOutbox { return false }
            if !error.mayHaveReachedServer || error.isRejection { return true }
            return form.isIdempotent || hasKey || (form.hasIdempotencyKey && form.changes == progress.changes)
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

        /// Posts a state while the lock is held, so that all listeners receive the states in order; `yield` runs no
        /// code of theirs.
        private static func post(_ state: State, _ progress: inout Progress) {
            progress.states.append(state)
            for listener in progress.listeners.values { listener.yield(state) }
        }
    }
}

extension Form.Submission.State {
    fileprivate var isSuccess: Bool {
        if case .success = self { return true }
        return false
    }
}

extension NetworkClient {
    /// Submits a form and reports its states; the submission has started when this returns.
    ///
    /// See `submit(_:to:)` for the parameters.
    public func submission(
        of form: Form,
        to target: some Request.Target,
        query: [URLQueryItem] = [],
        headers: [String: String] = [:],
        timeout: Duration? = nil,
        progress: (@Sendable (TransferRequest.Progress) -> Void)? = nil
    ) -> Form.Submission {
        Form.Submission(form, hasKey: headers.hasIdempotencyKey) { () throws(NetworkError) in
            try await submit(form, to: target, query: query, headers: headers, timeout: timeout, progress: progress)
        }
    }
}

extension NetworkError {
    /// Whether the server said that it didn't act on the request; a gateway that gave up (408, 5xx) doesn't know.
    fileprivate var isRejection: Bool {
        guard kind == .status, let status = response?.status else { return false }
        return status.kind == .clientError && status != .requestTimeout
    }
}
