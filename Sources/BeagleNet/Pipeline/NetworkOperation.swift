import BeagleNetDependencies
public import BeagleNetHTTP
public import BeagleNetRequestBuilder

/// One run of a request through the pipeline: the request, the message built from it, and the context that interceptors
/// share.
public struct NetworkOperation: Sendable {
    /// The operation's properties, behind one reference so that interceptors that only read the operation don't copy
    /// them all.
    private struct Fields: Sendable {
        var request: Request
        let kind: Kind
        var operationName: String?
        /// `nil` for the client's policy.
        var policy: RequestPolicy?
        var isShared: Bool
        var isDetached = false
        var reportsProgress = false
        var attempt = 1
        /// `nil` for the client's partition.
        var partition: String?
        var context = Context()
        var maxAge: Duration?
        var performer: (any OperationPerformer)? { didSet { isOneMessage = performer == nil && revision == nil } }
        var revision: (any OperationRevision)? { didSet { isOneMessage = performer == nil && revision == nil } }
        private(set) var isOneMessage = true
        var series: MessageSeries?
        var elapsed: (@Sendable () -> Duration)?
        var priorityControl: Priority.Control?
        var onHead: TransferRequest.HeadObserver?

        init(_ request: consuming Request, _ kind: Kind, _ policy: RequestPolicy?) {
            self.request = request
            self.kind = kind
            self.policy = policy
            isShared = kind.isShared
        }
    }

    /// The header fields and messages that interceptors have added.
    private struct Additions: Sendable {
        /// Fields that may be sent to this origin although it isn't declared.
        var permittedFields: Set<HTTPField.Name> = []
        /// Fields that hold the credentials of the user for whom the operation was made, or that trace the message.
        var knownFields: [HTTPField] = []
        /// The first message and the present one, as the client made them; `nil` if they are the same.
        var revised: (first: TransferRequest, current: TransferRequest)?
    }

    private var fields: CopyOnWrite<Fields>
    /// The message and its transfer options.
    ///
    /// The client builds it from `request` before the first interceptor sees the operation; until then it is an empty
    /// GET.
    public var transfer = TransferRequest.unbuilt
    private var currentRun = OperationRun.none
    private var additions: CopyOnWrite<Additions>?

    /// Creates an operation.
    ///
    /// - Parameters:
    ///   - request: The request to perform.
    ///   - kind: The kind of operation; `nil`, the default, for the kind that belongs to the request's type.
    ///   - policy: Whether stored responses are used; `nil`, the default, for the client's `dependencies.policy`.
    public init(_ request: consuming Request, kind: Kind? = nil, policy: RequestPolicy? = nil) {
        if let forwardedOperation = request.forwardedOperation as? ForwardedOperation {
            self = forwardedOperation.operation
            self.request = request
            self.request.forwardedOperation = nil
            if let policy { self.policy = policy }
            return
        }
        let kind = kind ?? request.type.kind
        fields = CopyOnWrite(Fields(request, kind, policy))
    }

    /// The request, which carries the operation through clients that only forward requests.
    ///
    /// The client at the end restores the operation from it, with its partition and its handling by an outbox.
    var forwardedRequest: Request {
        var operation = self
        // Revisions are handled and counted by the code that performs the messages one by one.
        (operation.revision, operation.series, operation.elapsed) = (nil, nil, nil)
        if isStream { operation.transfer.delivery = .collect }
        var request = request
        request.forwardedOperation = ForwardedOperation(operation)
        return request
    }

    /// The app's request.
    public var request: Request {
        _read { yield fields.value.request }
        _modify { yield &fields.value.request }
    }

    /// The kind of operation.
    public var kind: Kind { fields.value.kind }

    /// The name of a GraphQL operation, such as `Home` in `query Home`; `nil`, the default, if it has none.
    ///
    /// Spans have it as an attribute and not as their name, because the number of names that clients may choose isn't
    /// limited.
    public var operationName: String? {
        get { fields.value.operationName }
        set { fields.value.operationName = newValue }
    }

    /// Whether stored responses are used.
    ///
    /// If it isn't set, that of the kind: `networkFirst` for screens, `http` for raw requests, and otherwise
    /// `cacheFirst`. When a client accepts the operation, its container's `policy` applies, if there is one.
    public var policy: RequestPolicy {
        get { fields.value.policy ?? currentRun.policy ?? fields.value.kind.policy }
        set { fields.value.policy = newValue }
    }

    /// Whether identical operations that are in flight at the same time share one run, and thus one response.
    ///
    /// By default, the value of `Kind.isShared`.
    public var isShared: Bool {
        get { fields.value.isShared }
        set { fields.value.isShared = newValue }
    }

    /// Whether the run continues after its last subscriber has left.
    ///
    /// `false` by default: leaving cancels the run.
    public var isDetached: Bool {
        get { fields.value.isDetached }
        set { fields.value.isDetached = newValue }
    }

    /// Whether the operation reports progress while bodies are transferred.
    ///
    /// `false` by default.
    public var reportsProgress: Bool {
        get { fields.value.reportsProgress }
        set { fields.value.reportsProgress = newValue }
    }

    /// The number of this attempt, starting at 1.
    public var attempt: Int {
        get { fields.value.attempt }
        set { fields.value.attempt = newValue }
    }

    /// The partition of responses to which this operation belongs.
    ///
    /// Set one per user if one client serves several users or if responses are stored: operations of different
    /// partitions never share a response.
    ///
    /// Empty by default, for that of the client's `dependencies.partition`. Set it before the operation runs. If an
    /// interceptor sets it, the `key` doesn't include it, so that the cache neither stores nor finds a response.
    public var partition: String {
        get { fields.value.partition ?? currentRun.partition }
        set { fields.value.partition = newValue.isEmpty ? nil : newValue }
    }

    /// Raises the priority of the operation after it was started; `nil` by default.
    ///
    /// The priority isn't part of the `key`: operations that share a run get the highest priority of all.
    public var priorityControl: Priority.Control? {
        get { fields.value.priorityControl }
        set { fields.value.priorityControl = newValue }
    }

    /// Observes the heads of the responses; `nil` by default.
    ///
    /// It isn't part of the `key`: of operations that share a run, only the first observes it.
    var onHead: TransferRequest.HeadObserver? {
        get { fields.value.onHead }
        set { fields.value.onHead = newValue }
    }

    /// Values that interceptors share with each other.
    public var context: Context {
        _read { yield fields.value.context }
        _modify { yield &fields.value.context }
    }

    /// An identifier that is equal for operations with the same request.
    ///
    /// `nil` before the client has built the message, and if the operation isn't shared.
    public var key: Key? { comparedContent?.key }

    /// The content of the operation; `nil` if `key` is `nil`.
    var comparedContent: ComparedContent? { currentRun.comparedContent }

    /// The maximum time for this operation, including all attempts and the waits between them: `request.timeout`.
    ///
    /// If `nil`, the limit of the `DeadlineInterceptor` applies.
    public var deadline: Duration? {
        get { fields.value.request.timeout }
        set { fields.value.request.timeout = newValue }
    }

    /// The maximum age of a stored response for `RequestPolicy.cacheFirst`.
    ///
    /// An older response is emitted as stale, and the network is used. If `nil`, the default, the limit of a
    /// `RequestPolicyInterceptor` applies, if any.
    public var maxAge: Duration? {
        get { fields.value.maxAge }
        set { fields.value.maxAge = newValue }
    }

    /// The performer at the end of the pipeline; `nil`, the default, if the operation is one request with one response.
    package var performer: (any OperationPerformer)? {
        get { fields.value.performer }
        set { fields.value.performer = newValue }
    }

    /// The rule that replaces the message if the server doesn't accept it; `nil`, the default, if there is no
    /// replacement.
    package var revision: (any OperationRevision)? {
        get { fields.value.revision }
        set { fields.value.revision = newValue }
    }

    /// Whether `performer` and `revision` are both `nil`.
    ///
    /// Reading one of them copies it, even if it is `nil`.
    var isOneMessage: Bool { fields.value.isOneMessage }

    /// Whether the transport or a performer handles the kind.
    var isHandled: Bool { isTransfer || !isOneMessage && performer != nil }

    /// Whether the kind is one HTTP request and response, which every client and transport can perform.
    var isTransfer: Bool { fields.value.kind.isTransfer }

    /// The series of messages to which this one belongs; `nil` if no other message may follow.
    package var series: MessageSeries? {
        get { fields.value.series }
        set { fields.value.series = newValue }
    }

    /// The time since the first message was sent, if this is a later one.
    var elapsed: (@Sendable () -> Duration)? {
        get { fields.value.elapsed }
        set { fields.value.elapsed = newValue }
    }

    /// The client's dependencies for its interceptors.
    var operationEnvironment: OperationEnvironment { currentRun.operationEnvironment }

    /// Returns the operation as the client accepts it.
    ///
    /// - Parameters:
    ///   - transfer: The message.
    ///   - operationEnvironment: The client's dependencies for interceptors.
    ///   - credentialOwner: The number of the user whose credentials it will get.
    ///   - builtMessage: The message, if equal requests share it.
    func sending(
        _ transfer: consuming TransferRequest,
        _ operationEnvironment: OperationEnvironment,
        for credentialOwner: Int,
        _ builtMessage: BuiltMessage? = nil
    ) -> NetworkOperation {
        let partition = partition.isEmpty ? operationEnvironment.partition : partition
        let comparedContent = ComparedContent.of(self, transfer, partition, for: credentialOwner)
        let scopedFields = transfer.originScopedFields
        let brought: HTTPFields =
            scopedFields.isEmpty ? HTTPFields() : transfer.head.headerFields.filter { scopedFields.contains($0.name) }
        if kind.resendPolicy != .ifIdempotent { transfer.resendPolicy = kind.resendPolicy }
        if let control = fields.value.priorityControl { transfer.priorityControl = control }
        if let onHead = fields.value.onHead { transfer.onHead = onHead }
        var operation = self
        operation.transfer = transfer
        operation.additions = nil
        operation.currentRun = OperationRun(
            comparedContent: comparedContent,
            partition: partition,
            policy: currentRun.policy ?? operationEnvironment.policy,
            operationEnvironment: operationEnvironment,
            scopedFields: scopedFields,
            requestScopedFields: brought,
            credentialOwner: credentialOwner,
            logger: operationEnvironment.capturesLogger ? operationEnvironment.logger.captured() : nil,
            builtMessage: builtMessage
        )
        return operation
    }

    /// The message that equal requests share, unless it has changed.
    var builtMessage: BuiltMessage? {
        guard let built = currentRun.builtMessage, additions == nil, built.message.isSame(as: transfer) else {
            return nil
        }
        return built
    }

    /// The number of the user whose credentials the pipeline had when the client accepted the operation; 0 if it has
    /// none.
    var credentialOwner: Int { currentRun.credentialOwner }

    /// Whether the partition is still the one in the compared content.
    var hasKeyedPartition: Bool { fields.value.partition.map { $0 == currentRun.partition } ?? true }

    /// Marks fields, with their present values, as the credentials of a user.
    mutating func note(credentials fields: Set<HTTPField.Name>, of credentialOwner: Int) {
        sendRecord?.addCredentials()
        if credentialOwner == self.credentialOwner { note(known: fields) }
    }

    /// Marks fields, with their present values, as tracing: they don't identify the user.
    package mutating func note(tracing fields: Set<HTTPField.Name>) {
        note(known: fields)
    }

    private mutating func note(known fields: Set<HTTPField.Name>) {
        if sendRecord == nil { return }
        let known = transfer.head.headerFields.filter { fields.contains($0.name) }
        add { $0.knownFields += known }
    }

    /// The state that its attempts share; `nil` before a client has accepted it.
    package var run: OperationRun? { currentRun === OperationRun.none ? nil : currentRun }

    /// Returns the same operation in a run of its own.
    package func inNewRun() -> NetworkOperation {
        var operation = self
        operation.currentRun = OperationRun(like: currentRun)
        return operation
    }

    private mutating func add(_ change: (inout Additions) -> Void) {
        if additions == nil {
            var first = Additions()
            change(&first)
            additions = CopyOnWrite(first)
        } else {
            change(&additions!.value)
        }
    }

    /// The record of how the message was sent; `nil` if the response isn't stored.
    var sendRecord: SendRecord? { run?.sendRecord }

    /// The running deadline of the operation; `nil` if it has no limit.
    var deadlineTimer: DeadlineTimer? { run?.deadlineTimer }

    /// The logger as captured in the caller's task; `nil` if it is the client's.
    var capturedLogger: (any BeagleLogger)? { currentRun.logger }

    /// Begins another attempt.
    mutating func beginAttempt() {
        attempt += 1
        run?.addAttempt()
    }

    /// Whether the message still matches the key, except for the credentials of the key's user and for tracing fields.
    func sends(_ message: Key?) -> Bool { message != nil && message == messageKey }

    /// The key of the message without known credentials and traces, or of the first message if the client replaced
    /// that. `nil` if the message isn't that of the client, or its body is a file or a stream.
    var messageKey: Key? {
        var sent = transfer
        if let revised = additions?.value.revised {
            guard sent.hasSameContent(as: revised.current) else { return nil }
            sent.replaceContent(with: revised.first)
        }
        return messageKey(of: sent, without: additions?.value.knownFields ?? [])
    }

    /// The first message of the operation.
    package var firstMessage: TransferRequest { additions?.value.revised?.first ?? transfer }

    /// Replaces the message with another one that the client made.
    ///
    /// Keeps the header fields that interceptors have added.
    mutating func revise(_ made: TransferRequest, withPath: Bool) {
        let first = firstMessage
        transfer.replaceContent(with: made, withPath: withPath)
        let current = transfer
        add { $0.revised = (first, current) }
    }

    /// The origin-scoped fields that interceptors have added to the message, except for those that are permitted for
    /// this origin.
    var addedScopedFields: HTTPFields {
        let scoped = transfer.originScopedFields
        let permitted = additions?.value.permittedFields ?? []
        // Comparing is cheap if both are the same storage, as after a first `scope`.
        if scoped.isEmpty || scoped == permitted { return HTTPFields() }
        return transfer.head.headerFields.filter { field in
            scoped.contains(field.name) && !permitted.contains(field.name)
                && !(currentRun.scopedFields.contains(field.name) && currentRun.requestScopedFields.contains(field))
        }
    }

    /// Removes these fields on a redirect to another origin, and permits them for this origin even if it isn't
    /// declared.
    package mutating func scope(_ fields: Set<HTTPField.Name>) {
        // Forming a union with an empty set would copy.
        if transfer.originScopedFields.isEmpty {
            transfer.originScopedFields = fields
        } else {
            transfer.originScopedFields.formUnion(fields)
        }
        add { added in
            if added.permittedFields.isEmpty {
                added.permittedFields = fields
            } else {
                added.permittedFields.formUnion(fields)
            }
        }
    }

    /// A kind of operation.
    ///
    /// The set is open: a pipeline may have interceptors that handle kinds of their own.
    public struct Kind: Sendable, Hashable {
        /// The name of the kind in messages.
        public let name: String
        /// Whether identical operations of this kind share one run.
        public let isShared: Bool
        // Found once for each kind, because steps would otherwise compare names for each operation.
        /// Whether the kind is one HTTP request and response.
        let isTransfer: Bool
        /// Whether stored responses will do if neither the operation nor the app says.
        let policy: RequestPolicy
        /// The rule for sending messages of this kind again although the server may have acted on them.
        let resendPolicy: TransferRequest.ResendPolicy

        /// Creates a kind.
        ///
        /// Two kinds are equal only if both their name and `isShared` are equal.
        public init(_ name: String, isShared: Bool) {
            (self.name, self.isShared) = (name, isShared)
            (isTransfer, policy, resendPolicy) =
                switch (name, isShared) {
                case ("component", true): (true, .networkFirst, .ifIdempotent)
                case ("image", true): (true, .cacheFirst, .ifIdempotent)
                case ("form", false): (true, .cacheFirst, .ifSafe)
                case ("raw", false): (true, .http, .ifIdempotent)
                case ("query", true): (true, .cacheFirst, .always)
                case ("mutation", false): (true, .cacheFirst, .never)
                case ("subscription", true): (false, .cacheFirst, .always)
                default: (false, .cacheFirst, .ifIdempotent)
                }
        }

        /// A screen or a part of one.
        public static let component = Kind("component", isShared: true)
        /// An image.
        public static let image = Kind("image", isShared: true)
        /// The submission of a form.
        public static let form = Kind("form", isShared: false)
        /// Any other request.
        public static let raw = Kind("raw", isShared: false)
        /// A GraphQL query.
        public static let query = Kind("query", isShared: true)
        /// A GraphQL mutation.
        public static let mutation = Kind("mutation", isShared: false)
        /// A GraphQL subscription.
        public static let subscription = Kind("subscription", isShared: true)
    }
}

extension NetworkOperation.Kind: CustomStringConvertible {
    /// The name of the kind.
    public var description: String { name }
}

/// An operation inside a request, for clients that only forward requests.
private final class ForwardedOperation: Sendable {
    let operation: NetworkOperation

    init(_ operation: NetworkOperation) {
        self.operation = operation
    }
}

extension NetworkOperation {
    /// Returns an operation with a streamed body, which only one reader can read.
    package static func stream(_ request: Request, kind: Kind? = nil) -> NetworkOperation {
        var operation = NetworkOperation(request, kind: kind)
        operation.isShared = false
        operation.transfer.delivery = .stream
        return operation
    }

    var isStream: Bool { transfer.delivery == .stream }
}

extension Request.RequestType {
    fileprivate var kind: NetworkOperation.Kind {
        switch self {
        case .fetchComponent: .component
        case .submitForm: .form
        case .fetchImage: .image
        case .rawRequest: .raw
        }
    }
}

extension TransferRequest {
    fileprivate static let unbuilt = TransferRequest(
        HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil)
    )
}

extension NetworkOperation: CustomStringConvertible, CustomReflectable {
    /// The kind, name, policy and message, or the request if there is no message yet.
    ///
    /// Secrets are redacted.
    public var description: String {
        let title = [kind.name, operationName].compactMap(\.self).joined(separator: " ")
        let asked = transfer.head.authority == nil ? "\(request)" : redactor.redactedDescription(of: transfer)
        return "\(title), \(policy)\(attempt > 1 ? ", attempt \(attempt)" : ""): \(asked)"
    }
    /// A mirror without children, because `dump` would show their secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
