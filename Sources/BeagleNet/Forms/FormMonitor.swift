import BeagleNetHTTP

/// The latest submission of a form and the edits since, for the views that show it.
final class FormMonitor: Sendable {
    /// The number of a submission.
    typealias Run = Int

    private struct State: Sendable {
        var run: Run = 0
        var status = Form.State.Status.editing
        var progress: TransferRequest.Progress?
        /// The values of the latest submission.
        var submitted: FormContents?
        /// The errors in the server's latest reply.
        var errors: [Form.FieldError] = []
        /// The latest known values of inputs, by name.
        var seen: [String: [Form.Value]]
        /// The number of changes to the form that `seen` includes.
        var changes = 0
        var edited: Set<String> = []
        var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastListener = 0
    }

    private let state: Lock<State>

    init(_ inputs: [Form.Input]) {
        state = Lock(State(seen: Self.values(of: inputs)))
    }

    deinit {
        for listener in state.withLock({ $0.listeners.values }) { listener.finish() }
    }

    private static func values(of inputs: [Form.Input]) -> [String: [Form.Value]] {
        Dictionary(grouping: inputs, by: \.name).mapValues { $0.map(\.value) }
    }

    // MARK: - Events

    /// Notes the edited inputs.
    ///
    /// - Parameter changes: The number of changes to the form.
    func edited(_ inputs: [Form.Input], _ changes: Int) {
        let values = Self.values(of: inputs)
        state.withLock { state in
            guard changes > state.changes else { return }
            for (name, values) in values where state.seen[name] != values { state.edited.insert(name) }
            (state.seen, state.changes) = (values, changes)
        }
        notify()
    }

    /// Notes that a submission has begun.
    func began(_ contents: FormContents) -> Run {
        defer { notify() }
        return state.withLock { state in
            state.run += 1
            (state.status, state.progress, state.submitted) = (.submitting, nil, contents)
            state.errors = []
            return state.run
        }
    }

    func progressed(_ progress: TransferRequest.Progress, of run: Run) {
        state.withLock { if $0.run == run { $0.progress = progress } }
        notify()
    }

    func ended(_ outcome: Result<Form.Reply, NetworkError>, of run: Run) {
        state.withLock { state in
            guard state.run == run else { return }
            (state.status, state.progress) = (Form.State.Status(outcome), nil)
            if case .success(let reply) = outcome { state.errors = reply.errors }
        }
        notify()
    }

    /// Notes that the form's own validation has rejected it, unless a submission is in flight.
    func refused(_ reply: Form.Reply) {
        state.withLock { state in
            if case .submitting = state.status { return }
            (state.status, state.errors) = (.refused(reply), [])
        }
        notify()
    }

    func notify() {
        for listener in state.withLock({ $0.listeners.values }) { listener.yield() }
    }

    // MARK: - State

    /// Returns a stream with an element for the current state, and one after each change. Changes that the subscriber
    /// hasn't seen yet are one element.
    func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield()
        let id = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            return state.lastListener
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.listeners[id] = nil } }
        return stream
    }

    /// Returns the state of a form with these contents.
    ///
    /// - Parameter errors: The errors of the form's own validation.
    func formState(
        _ contents: FormContents,
        names: [String],
        _ errors: [Form.FieldError],
        checking: Set<String>
    ) -> Form.State {
        let state = state.withLock { $0 }
        var known: Set<String> = []
        let inputs = names.filter { known.insert($0).inserted }.map { name in
            var messages = errors.filter { $0.field == name }.map(\.message)
            if messages.isEmpty, state.submitted?.values(of: name) == contents.values(of: name) {
                messages = state.errors.filter { $0.field == name }.map(\.message)
            }
            return Form.State.Input(
                name: name,
                messages: messages,
                isEdited: state.edited.contains(name),
                isChecking: checking.contains(name)
            )
        }
        return Form.State(
            status: state.status,
            progress: state.progress,
            inputs: inputs,
            messages: (errors + state.errors).filter { $0.field == nil }.map(\.message),
            isValid: errors.isEmpty,
            hasUnsentEdits: state.submitted.map { $0 != contents } ?? !state.edited.isEmpty
        )
    }
}

extension Form.State.Status {
    fileprivate init(_ outcome: Result<Form.Reply, NetworkError>) {
        self =
            switch outcome {
            case .success(let reply): reply.isAccepted ? .accepted(reply) : .refused(reply)
            case .failure(let error) where error.isStoredInOutbox: .kept(error)
            case .failure(let error): error.isCancelled ? .editing : .failed(error)
            }
    }
}

/// The names and values of a form at one moment.
struct FormContents: Sendable, Hashable {
    private struct Value: Sendable, Hashable {
        let name: String
        let value: Form.Value
    }

    private let inputs: [Value]
    private let additionalData: [String: Form.Value]

    init(_ inputs: [Form.Input], _ additionalData: [String: Form.Value]) {
        self.inputs = inputs.map { Value(name: $0.name, value: $0.value) }
        self.additionalData = additionalData
    }

    /// Returns the values of an input.
    func values(of name: String) -> [Form.Value] {
        inputs.filter { $0.name == name }.map(\.value)
    }
}
