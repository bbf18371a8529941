public import BeagleNetHTTP
public import BeagleNetRequestBuilder

/// A form that a person fills in: inputs, what must hold of them, and how they are sent.
///
/// ```swift
/// let form = Form([
///     Form.Input("name", isRequired: true),
///     Form.Input("email") { value, _ in value.text?.contains("@") == true ? nil : "must be an address" },
/// ])
/// form["name"] = "Ana"
/// let reply = try await client.submit(form, to: "/signup")
/// ```
///
/// In a file that imports SwiftUI it is `BeagleNet.Form`.
///
/// A reference, so that two taps on one button mean the same form: it may be filled in and submitted from any thread,
/// one submission of it is under way at a time, and one that was accepted isn't sent again before it is edited.
public final class Form: Sendable {
    /// How the form is submitted; a query carries the values of GET and DELETE, a body those of POST and PUT.
    public let method: FormRemoteAction.Method
    /// How a body is written.
    public let encoding: Request.FormData.Encoding
    /// The name under which values are kept; nil keeps none.
    ///
    /// Values of the group go out with the form where it has no input of their name. Submitting keeps the form's own
    /// first, secrets and files apart; a success forgets the group, and so does an `Outbox` that keeps the form.
    public let group: String?
    /// Whether a POST carries an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header). No by default.
    ///
    /// The key is random, stays the same while the same values are sent again, and is another after a success or when
    /// something was changed. With it the client sends again by itself what may have been executed already: switch it on
    /// for servers that heed it, only.
    public let sendsIdempotencyKey: Bool
    /// Whether an `OutboxInterceptor` keeps it on the disk until the server has answered.
    ///
    /// `.automatic`, the default, keeps what the interceptor keeps, but no form with a secret that is filled in, as the
    /// password of a sign-in: values are on the disk as they are. The log and the error's `advice` say that it was not kept.
    /// A queue keeps that too.
    public let outbox: OutboxChoice
    private let givenStore: (any FormStore)?
    private let state: Lock<State>
    /// Sees to it that one submission is under way at a time.
    let turn = FormTurn()

    private struct State {
        var inputs: [Input]
        var additionalData: [String: FormValue] = [:]
        var changes = 0
    }

    /// A form.
    ///
    /// - Parameters:
    ///   - inputs: in the order in which they are sent; names may repeat.
    ///   - method: POST by default.
    ///   - encoding: JSON by default; files take `.multipart`.
    ///   - group: the name under which values are kept; none by default.
    ///   - store: where they are kept; the `formStore` of `Beagle.dependencies` where nil.
    ///   - sendsIdempotencyKey: whether a POST carries an `Idempotency-Key`. No by default.
    ///   - outbox: whether an `OutboxInterceptor` keeps it; `.automatic` by default.
    public init(
        _ inputs: [Input] = [],
        method: FormRemoteAction.Method = .post,
        encoding: Request.FormData.Encoding = .json,
        group: String? = nil,
        store: (any FormStore)? = nil,
        sendsIdempotencyKey: Bool = false,
        outbox: OutboxChoice = .automatic
    ) {
        self.method = method
        self.encoding = encoding
        self.group = group
        self.sendsIdempotencyKey = sendsIdempotencyKey
        self.outbox = outbox
        givenStore = store
        state = Lock(State(inputs: inputs))
    }

    /// An input and what must hold of its value.
    public struct Input: Sendable {
        /// Says what is wrong with a value, nil where nothing is. It is asked for an empty value too, and given all
        /// inputs: some must be like others.
        public typealias Check = @Sendable (_ value: FormValue, _ inputs: [Input]) -> String?

        /// The name under which the value is sent.
        public var name: String
        /// What was put in.
        public var value: FormValue
        /// Whether it must not be left empty.
        public var isRequired: Bool
        /// What is said of a required input that is empty.
        public var requiredMessage = "must not be empty"
        /// Whether the value is never kept.
        public var isSecret: Bool
        /// Tells what is wrong with a value; not asked where a required one is missing.
        public var check: Check?

        /// An input.
        ///
        /// - Parameters:
        ///   - name: the name under which the value is sent.
        ///   - value: what is in it at first; nothing by default.
        ///   - isRequired: whether it must not be left empty. No by default.
        ///   - isSecret: whether the value is never kept; where nil, what the redactor of `Beagle.dependencies` says
        ///     of the name: `password` and its like are secret.
        ///   - check: what else must hold.
        public init(
            _ name: String,
            _ value: FormValue = .empty,
            isRequired: Bool = false,
            isSecret: Bool? = nil,
            check: Check? = nil
        ) {
            self.name = name
            self.value = value
            self.isRequired = isRequired
            self.isSecret = isSecret ?? Self.isSecret(name)
            self.check = check
        }
    }
}

// MARK: - What is in it

extension Form {
    /// The inputs as they are.
    public var inputs: [Input] {
        get { state.withLock { $0.inputs } }
        set { change { $0.inputs = newValue } }
    }

    /// Values that no person fills in and that win over inputs of the same name. They are sent last, sorted by name.
    public var additionalData: [String: FormValue] {
        get { state.withLock { $0.additionalData } }
        set { change { $0.additionalData = newValue } }
    }

    /// The value of the first input of this name; nil where there is none. What is set takes the place of all values of
    /// the name, in a new input where there is none; nil removes them.
    public subscript(name: String) -> FormValue? {
        get { state.withLock { $0.inputs.first { $0.name == name }?.value } }
        set {
            change { state in
                let index = state.inputs.firstIndex { $0.name == name }
                var input = index.map { state.inputs[$0] } ?? Input(name)
                state.inputs.removeAll { $0.name == name }
                guard let newValue else { return }
                input.value = newValue
                state.inputs.insert(input, at: index ?? state.inputs.count)
            }
        }
    }

    /// Adds an input behind the others, also where there is one of its name.
    public func add(_ input: Input) {
        change { $0.inputs.append(input) }
    }

    /// Has the form sent once more as it is, although it was accepted: for one that is meant to be sent again and again,
    /// as a vote. Without it, only a form that was edited since is sent.
    public func allowResubmission() {
        turn.forgetAccepted()
    }

    /// How often something was put into the form.
    var changes: Int { state.withLock { $0.changes } }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            state.changes += 1
        }
    }

    /// What is wrong with the inputs, in their order; nothing where the form may be submitted.
    public func validate() -> [FieldError] {
        let inputs = inputs
        return inputs.compactMap { input in
            if input.isRequired, input.value.isEmpty {
                return FieldError(field: input.name, message: input.requiredMessage)
            }
            return input.check?(input.value, inputs).map { FieldError(field: input.name, message: $0) }
        }
    }

    /// What is sent: stored values < inputs < additional data.
    ///
    /// - Throws: `NetworkError` where the stored values cannot be read.
    package func data() throws(NetworkError) -> Request.FormData {
        let (inputs, additional) = state.withLock { ($0.inputs, $0.additionalData) }
        let own = Set(inputs.map(\.name)).union(additional.keys)
        let stored = try group.map { group throws(NetworkError) in try store.fields(of: group) } ?? []
        let repeatsName = encoding != .json || method == .get || method == .delete
        let values =
            stored.filter { !own.contains($0.name) }.map { ($0.name, FormValue($0.value)) }
            + inputs.filter { additional[$0.name] == nil }.map { ($0.name, $0.value) }
            + additional.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        let fields = values.flatMap { $1.fields($0, repeatsName: repeatsName) }
        return Request.FormData(method: method, fields: fields, encoding: encoding)
    }
}

// MARK: - What is kept

extension Form {
    private var store: any FormStore { givenStore ?? Beagle.dependencies.formStore }

    /// Keeps what is in the form, over what its group has; nothing of secrets and of files. Without a group it does
    /// nothing.
    ///
    /// - Throws: `NetworkError` where it cannot be kept.
    public func save() throws(NetworkError) {
        guard let group else { return }
        let (inputs, additional) = state.withLock { ($0.inputs, $0.additionalData) }
        let values =
            inputs.filter { !$0.isSecret && additional[$0.name] == nil }.map { ($0.name, $0.value) }
            + additional.filter { !Input.isSecret($0.key) }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        let fields = values.compactMap { name, value in value.json.map { FormField(name, $0) } }
        try store.keep(fields, insteadOf: Set(inputs.map(\.name)).union(additional.keys), in: group)
    }

    /// The name of an input that is filled in and never kept; `nil` if there is none.
    var secretInput: String? {
        state.withLock { state in
            state.inputs.first { $0.isSecret && !$0.value.isEmpty }?.name
                ?? state.additionalData.first { Input.isSecret($0.key) && !$0.value.isEmpty }?.key
        }
    }

    /// Puts what its group has into the inputs of the form. Without a group it does nothing.
    ///
    /// - Throws: `NetworkError` where it cannot be read.
    public func restore() throws(NetworkError) {
        guard let group else { return }
        var stored = Dictionary(grouping: try store.fields(of: group), by: \.name)
        change { state in
            for index in state.inputs.indices {
                guard let value = stored[state.inputs[index].name]?.first?.value else { continue }
                stored[state.inputs[index].name]?.removeFirst()
                state.inputs[index].value = FormValue(value)
            }
        }
    }

    /// Forgets what its group has. Without a group it does nothing.
    ///
    /// - Throws: `NetworkError` where it cannot be forgotten.
    public func clear() throws(NetworkError) {
        if let group { try store.clear(group) }
    }
}

extension Form.Input {
    fileprivate static func isSecret(_ name: String) -> Bool {
        // `key` counts by the length of its value, which is not known yet.
        Beagle.dependencies.redactor.isSecret(name: name, length: .max)
    }
}

extension Form.Input: CustomStringConvertible, CustomReflectable {
    /// Name and value; of a secret input no value.
    public var description: String {
        if isSecret { return value.isEmpty ? "\(name): empty" : "\(name): \(Redactor.placeholder)" }
        return "\(name): \(value)"
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
