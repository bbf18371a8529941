import BeagleNetDependencies
import BeagleNetHTTP

/// The asynchronous checks of a form's inputs, by the name of the input.
final class FormChecks: Sendable {
    private struct Check: Sendable {
        enum State: Sendable {
            /// The value hasn't been checked, or its check has failed.
            case unchecked
            /// The check begins after a pause.
            case waiting(Task<Void, Never>)
            case running(Task<Void, Never>)
            case done(Form.Message?)
        }

        let id: Int
        let value: Form.Value
        var state = State.unchecked

        var task: Task<Void, Never>? {
            switch state {
            case .waiting(let task), .running(let task): task
            case .unchecked, .done: nil
            }
        }
    }

    private struct State: Sendable {
        var lastID = 0
        var checks: [String: Check] = [:]
    }

    private let state = Lock(State())
    /// Called when a check begins or ends.
    private let didChange: @Sendable () -> Void

    init(_ inputs: [Form.Input], didChange: @escaping @Sendable () -> Void) {
        self.didChange = didChange
        // The initial values are only checked by a submission.
        for input in inputs where input.asyncValidator != nil { begin(input, inputs, mayWait: false) }
    }

    deinit {
        for check in state.withLock({ $0.checks.values }) { check.task?.cancel() }
    }

    /// Begins the checks of edited values, after a pause.
    func edited(_ inputs: [Form.Input]) {
        for input in inputs where input.asyncValidator != nil && !isCurrent(input) {
            begin(input, inputs, mayWait: true)
        }
    }

    /// Returns the message for an input whose current value was checked.
    func message(for input: Form.Input) -> Form.Message? {
        guard case .done(let message) = current(input)?.state else { return nil }
        return message
    }

    /// Whether the check of the current value is running, or begins after a pause.
    func isChecking(_ input: Form.Input) -> Bool { current(input)?.task != nil }

    /// Checks all values that weren't checked yet, and waits for running checks.
    ///
    /// - Throws: `NetworkError` of kind `.cancelled` if the task is cancelled; the checks continue.
    func finish(_ inputs: [Form.Input]) async throws(NetworkError) {
        let tasks = inputs.filter { $0.asyncValidator != nil }.compactMap { input in
            if !isCurrent(input) { begin(input, inputs, mayWait: false) }
            return start(input, inputs)
        }
        if tasks.isEmpty { return }
        try await withCancellableToken { completion in
            let waiting = Task {
                for task in tasks { await task.value }
                completion(.success(()))
            }
            return AnyRequestToken {
                waiting.cancel()
                completion(.failure(.cancelledBeforeStart))
            }
        }.get()
    }

    // MARK: - Steps

    private func current(_ input: Form.Input) -> Check? {
        guard input.asyncValidator != nil else { return nil }
        return state.withLock { $0.checks[input.name] }.flatMap { $0.value == input.value ? $0 : nil }
    }

    private func isCurrent(_ input: Form.Input) -> Bool { current(input) != nil }

    /// Replaces the check of an input by one of its current value.
    private func begin(_ input: Form.Input, _ inputs: [Form.Input], mayWait: Bool) {
        let isWaiting = mayWait && Self.isCheckable(input, inputs)
        let old = state.withLock { state in
            let old = state.checks[input.name]
            state.lastID += 1
            var check = Check(id: state.lastID, value: input.value)
            if isWaiting { check.state = .waiting(wait(for: input, check.id)) }
            state.checks[input.name] = check
            return old
        }
        old?.task?.cancel()
        if isWaiting || old?.task != nil { didChange() }
    }

    private func wait(for input: Form.Input, _ id: Int) -> Task<Void, Never> {
        let (delay, clock) = (input.asyncValidator?.delay ?? .zero, Beagle.dependencies.clock)
        return Task { [weak self] in
            if delay > .zero {
                do { try await clock.sleep(for: delay) } catch { return }
            }
            self?.run(input, id)
        }
    }

    /// Starts the check of a submitted value, unless it is already running or done.
    ///
    /// - Returns: The running check.
    private func start(_ input: Form.Input, _ inputs: [Form.Input]) -> Task<Void, Never>? {
        guard let check = current(input), Self.isCheckable(input, inputs) else { return nil }
        switch check.state {
        case .done: return nil
        case .running(let task): return task
        case .unchecked, .waiting: return run(input, check.id)
        }
    }

    @discardableResult
    private func run(_ input: Form.Input, _ id: Int) -> Task<Void, Never>? {
        let (task, waiting): (Task<Void, Never>?, Task<Void, Never>?) = state.withLock { state in
            guard var check = state.checks[input.name], check.id == id else { return (nil, nil) }
            switch check.state {
            case .done: return (nil, nil)
            case .running(let task): return (task, nil)
            case .unchecked, .waiting: break
            }
            let waiting = check.task
            let task = Task { [weak self] in
                let outcome = await Self.outcome(of: input)
                self?.end(input.name, id, outcome)
            }
            check.state = .running(task)
            state.checks[input.name] = check
            return (task, waiting)
        }
        waiting?.cancel()
        if task != nil { didChange() }
        return task
    }

    private static func outcome(of input: Form.Input) async -> Check.State {
        do {
            return .done(try await input.asyncValidator?.check(input.value))
        } catch {
            if !(error is CancellationError), !Task.isCancelled {
                let reason = NetworkError(wrapping: error).message
                Beagle.dependencies.logger.log(FormLog(message: "Could not check an input of a form: \(reason)"))
            }
            return .unchecked
        }
    }

    private func end(_ name: String, _ id: Int, _ outcome: Check.State) {
        let isCurrent = state.withLock { state in
            guard state.checks[name]?.id == id else { return false }
            state.checks[name]?.state = outcome
            return true
        }
        if isCurrent { didChange() }
    }

    private static func isCheckable(_ input: Form.Input, _ inputs: [Form.Input]) -> Bool {
        !input.value.isEmpty && input.message(in: inputs) == nil
    }
}
