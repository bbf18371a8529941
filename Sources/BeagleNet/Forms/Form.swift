public import BeagleNetHTTP
public import BeagleNetRequestBuilder

/// A form that a user fills in: its inputs, their validation, and the way they are sent.
///
/// ```swift
/// let form = Form([
///     Form.Input("name", isRequired: true),
///     Form.Input("email", isRequired: true, validators: [.email]),
/// ])
/// form["name"] = "Ana"
/// let reply = try await client.submit(form, to: "/signup")
/// ```
///
/// In a file that imports SwiftUI, its name is `BeagleNet.Form`.
///
/// A form is a class, so that two taps on one button submit the same form. It may be filled in and submitted from any
/// thread. Only one submission is in flight at a time, and an accepted form isn't sent again until it is edited.
public final class Form: Sendable {
    /// The HTTP method; GET and DELETE send the values in the query, POST and PUT in the body.
    public let method: FormRemoteAction.Method
    /// The method beyond `method` in which the values are sent: `HttpData(method: .PATCH)`, or `nil`, the default.
    ///
    /// `method` must be POST or PUT then. Other methods have no effect, and the form can't be sent if there is a body,
    /// because the values are its body.
    public let httpData: HttpAdditionalData.HttpData?
    /// The encoding of the body.
    public let encoding: Request.FormData.Encoding
    /// The name under which values are stored, or `nil` to store none.
    ///
    /// Stored values of the group are sent with the form unless it has an input of the same name. A submission first
    /// stores the form's own values, except secrets and files. When it succeeds, the group is deleted, and likewise
    /// when an `Outbox` stores the form.
    public let group: String?
    /// Whether a POST or PATCH carries an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header), `false` by
    /// default.
    ///
    /// The key is random. It stays the same while the same values are sent again, and changes after a success or an
    /// edit. With a key, the client automatically retries a request that the server may already have executed, so
    /// enable it only for servers that support it.
    public let sendsIdempotencyKey: Bool
    /// Whether an `OutboxInterceptor` stores the form on disk until the server has responded.
    ///
    /// `.automatic`, the default, leaves the choice to the interceptor, but never stores a form with a filled-in
    /// secret, such as a password, because values are stored in plain text. The log and the error's `advice` then say
    /// that the form wasn't stored. `.queue` stores such a form too.
    public let outbox: Outbox.Choice
    /// The places of the inputs in a JSON body, or `nil` if the inputs are its members.
    private let layout: FormLayout?
    /// The errors that the screen of the form has in its expressions.
    let screenErrors: (@Sendable ([Input]) -> [FieldError])?
    private let givenStore: (any Store)?
    private let values: Lock<Fields>
    /// The gate that allows only one submission at a time.
    let submissionGate = FormSubmissionGate()
    let monitor: FormMonitor
    let checks: FormChecks

    private struct Fields {
        var inputs: [Input]
        var additionalData: [String: Value] = [:]
        var changes = 0
    }

    /// Creates a form.
    ///
    /// - Parameters:
    ///   - inputs: The inputs in the order in which they are sent. Names may repeat.
    ///   - method: The HTTP method, POST by default.
    ///   - encoding: The encoding of the body, JSON by default. Files require `.multipart`.
    ///   - group: The name under which values are stored. By default no values are stored.
    ///   - store: The store of these values, or `nil` to use the `formStore` of `Beagle.dependencies`.
    ///   - sendsIdempotencyKey: Whether a POST or PATCH carries an `Idempotency-Key`, `false` by default.
    ///   - outbox: Whether an `OutboxInterceptor` stores the form, `.automatic` by default.
    ///   - httpData: `HttpData(method: .PATCH)` to send the form by PATCH, `nil` by default.
    public convenience init(
        _ inputs: [Input] = [],
        method: FormRemoteAction.Method = .post,
        encoding: Request.FormData.Encoding = .json,
        group: String? = nil,
        store: (any Store)? = nil,
        sendsIdempotencyKey: Bool = false,
        outbox: Outbox.Choice = .automatic,
        httpData: HttpAdditionalData.HttpData? = nil
    ) {
        self.init(
            inputs,
            method: method,
            encoding: encoding,
            group: group,
            store: store,
            sendsIdempotencyKey: sendsIdempotencyKey,
            outbox: outbox,
            httpData: httpData,
            layout: nil,
            screenErrors: nil
        )
    }

    /// Creates a form with the errors of its screen.
    init(
        _ inputs: [Input],
        method: FormRemoteAction.Method,
        encoding: Request.FormData.Encoding = .json,
        group: String? = nil,
        store: (any Store)? = nil,
        sendsIdempotencyKey: Bool = false,
        outbox: Outbox.Choice = .automatic,
        httpData: HttpAdditionalData.HttpData? = nil,
        layout: FormLayout?,
        screenErrors: (@Sendable ([Input]) -> [FieldError])?
    ) {
        self.method = method
        self.httpData = httpData
        self.layout = layout
        self.screenErrors = screenErrors
        self.encoding = encoding
        self.group = group
        self.sendsIdempotencyKey = sendsIdempotencyKey
        self.outbox = outbox
        givenStore = store
        values = Lock(Fields(inputs: inputs))
        let monitor = FormMonitor(inputs)
        self.monitor = monitor
        checks = FormChecks(inputs) { [weak monitor] in monitor?.notify() }
    }
}

// MARK: - Contents

extension Form {
    /// The current inputs.
    public var inputs: [Input] {
        get { values.withLock { $0.inputs } }
        set { change { $0.inputs = newValue } }
    }

    /// Values that the user doesn't fill in, which take precedence over inputs of the same name.
    ///
    /// They are sent last, sorted by name.
    public var additionalData: [String: Value] {
        get { values.withLock { $0.additionalData } }
        set { change { $0.additionalData = newValue } }
    }

    /// The value of the first input with this name, or `nil` if there is no such input.
    ///
    /// Setting a value replaces all values of the name, or adds an input if there is no such input. Setting `nil`
    /// removes them.
    public subscript(name: String) -> Value? {
        get { values.withLock { $0.inputs.first { $0.name == name }?.value } }
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

    /// Appends an input, even if there is already one with its name.
    public func add(_ input: Input) {
        change { $0.inputs.append(input) }
    }

    /// Allows the form to be sent again without an edit after it was accepted.
    ///
    /// Call it for a form that is meant to be sent repeatedly, such as a vote.
    public func allowResubmission() {
        submissionGate.forgetAccepted()
    }

    /// Whether the form is sent by PATCH.
    private var isPatch: Bool { httpData?.method == .PATCH }

    /// Whether sending the form twice has the same effect as once (RFC 9110, 9.2.2).
    var isIdempotent: Bool { method != .post && !isPatch }

    /// Whether its requests carry a key by which the server recognizes repeats.
    var hasIdempotencyKey: Bool { sendsIdempotencyKey && (method == .post || isPatch) }

    /// The number of changes to the form.
    var changes: Int { values.withLock { $0.changes } }

    private func change(_ body: (inout Fields) -> Void) {
        let (inputs, changes) = values.withLock { state in
            body(&state)
            state.changes += 1
            return (state.inputs, state.changes)
        }
        monitor.edited(inputs, changes)
        checks.edited(inputs)
    }

    /// The current names and values.
    var contents: FormContents { values.withLock { FormContents($0.inputs, $0.additionalData) } }

    /// Validates the inputs and returns their errors in order, or an empty array if the form may be submitted.
    ///
    /// Asynchronous checks count if they have ended for the current value. `submit` waits for the others.
    public func validate() -> [FieldError] {
        errors(of: inputs)
    }

    /// The values of a submission.
    struct Draft {
        /// The number of changes to the form.
        let changes: Int
        /// The errors of the values.
        let errors: [FieldError]
        /// The values to send; `nil` if there are errors.
        let values: (contents: FormContents, data: Request.FormData)?
    }

    /// Waits for the asynchronous checks, and returns values that all were checked: if the form is edited in the
    /// meantime, it checks again.
    ///
    /// - Throws: `NetworkError` if a check fails, or the stored values can't be read.
    func draft() async throws(NetworkError) -> Draft {
        while true {
            let changes = changes
            try await checks.finish(inputs)
            let errors = validate()
            let values = errors.isEmpty ? (contents, try data()) : nil
            if self.changes == changes { return Draft(changes: changes, errors: errors, values: values) }
        }
    }

    /// Returns the data to send.
    ///
    /// Additional data takes precedence over inputs, and inputs over stored values.
    ///
    /// - Throws: `NetworkError` if the stored values can't be read.
    package func data() throws(NetworkError) -> Request.FormData {
        let (inputs, additional) = values.withLock { ($0.inputs, $0.additionalData) }
        let own = Set(inputs.map(\.name)).union(additional.keys)
        let stored = try group.map { group throws(NetworkError) in try store.fields(of: group) } ?? []
        let repeatsName = encoding != .json || method == .get || method == .delete
        let values =
            stored.filter { !own.contains($0.name) }.map { ($0.name, Value($0.value)) }
            + inputs.filter { additional[$0.name] == nil }.map { ($0.name, $0.value) }
            + additional.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        let fields = values.flatMap { $1.fields($0, repeatsName: repeatsName) }
        let members = repeatsName ? fields : layout?.members(of: fields) ?? fields
        return Request.FormData(method: method, fields: members, encoding: encoding)
    }
}

// MARK: - Stored values

extension Form {
    private var store: any Store { givenStore ?? Beagle.dependencies.formStore }

    /// Stores the values of the form in its group, replacing stored values of the same names.
    ///
    /// Secrets and files aren't stored. Without a group, nothing happens.
    ///
    /// - Throws: `NetworkError` if the values can't be stored.
    public func save() throws(NetworkError) {
        guard let group else { return }
        let (inputs, additional) = values.withLock { ($0.inputs, $0.additionalData) }
        let values =
            inputs.filter { !$0.isSecret && additional[$0.name] == nil }.map { ($0.name, $0.value) }
            + additional.filter { !Input.isSecret($0.key) }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        let fields = values.compactMap { name, value in value.json.map { FormField(name, $0) } }
        try store.save(fields, replacing: Set(inputs.map(\.name)).union(additional.keys), in: group)
    }

    /// The name of a filled-in input that must never be stored, or `nil` if there is no such input.
    var secretInput: String? {
        values.withLock { state in
            state.inputs.first { $0.isSecret && !$0.value.isEmpty }?.name
                ?? state.additionalData.first { Input.isSecret($0.key) && !$0.value.isEmpty }?.key
        }
    }

    /// Copies the stored values of the group to the form's inputs; without a group, nothing happens.
    ///
    /// - Throws: `NetworkError` if the stored values can't be read.
    public func restore() throws(NetworkError) {
        guard let group else { return }
        var stored = Dictionary(grouping: try store.fields(of: group), by: \.name)
        change { state in
            for index in state.inputs.indices {
                guard let value = stored[state.inputs[index].name]?.first?.value else { continue }
                stored[state.inputs[index].name]?.removeFirst()
                state.inputs[index].value = Value(value)
            }
        }
    }

    /// Deletes the stored values of the group; without a group, nothing happens.
    ///
    /// - Throws: `NetworkError` if they can't be deleted.
    public func clear() throws(NetworkError) {
        if let group { try store.clear(group) }
    }
}
