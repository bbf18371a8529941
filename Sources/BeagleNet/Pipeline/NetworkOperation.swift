import BeagleNetDependencies
public import BeagleNetHTTP
public import BeagleNetRequestBuilder

/// One run of a request through the pipeline: what was asked, the message made of it, and what interceptors tell each
/// other about it.
public struct NetworkOperation: Sendable {
    /// What there is to know of an operation: too much to be copied by each interceptor that only looks at it.
    private struct Fields: Sendable {
        var request: Request
        let kind: Kind
        var operationName: String?
        /// nil for the client's.
        var policy: RequestPolicy?
        var isShared: Bool
        var isDetached = false
        var reportsProgress = false
        var attempt = 1
        var partition = ""
        var context = Context()
        var maxAge: Duration?
        var performer: (any OperationPerformer)? { didSet { isOneMessage = performer == nil && revision == nil } }
        var revision: (any OperationRevision)? { didSet { isOneMessage = performer == nil && revision == nil } }
        private(set) var isOneMessage = true
        var series: MessageSeries?
        var elapsed: (@Sendable () -> Duration)?
    }

    /// Fields and messages that interceptors have added.
    private struct Additions: Sendable {
        /// Fields that may go to this origin although it isn't declared.
        var permittedFields: Set<HTTPField.Name> = []
        /// Fields that hold the credentials of the user for whom the operation was made, or trace the message.
        var knownFields: [HTTPField] = []
        /// The first message and the present one, as the client made them; nil if they are the same.
        var revised: (first: TransferRequest, now: TransferRequest)?
    }

    private var fields: CopyOnWrite<Fields>
    /// The message and how it is to be transferred. The client makes it of `request` before the first interceptor sees
    /// the operation; before that it is an empty GET.
    public var transfer = TransferRequest.unbuilt
    private var taken = OperationRun.none
    private var additions: CopyOnWrite<Additions>?

    /// An operation.
    ///
    /// - Parameters:
    ///   - request: what to ask.
    ///   - kind: what sort of thing is asked for; that of the request's type where nil.
    ///   - policy: whether a stored answer will do; nil, the default, as `dependencies.policy` of the client says.
    public init(_ request: Request, kind: Kind? = nil, policy: RequestPolicy? = nil) {
        if let carried = request.carried as? CarriedOperation {
            self = carried.operation
            self.request = request
            self.request.carried = nil
            if let policy { self.policy = policy }
            return
        }
        let kind = kind ?? request.type.kind
        fields = CopyOnWrite(Fields(request: request, kind: kind, policy: policy, isShared: kind.isShared))
    }

    /// The request, which carries what else there is to know of the operation through clients that hand on requests alone.
    /// What they make of the request is the operation again: who may see its answer, and whether an outbox keeps it.
    var carryingRequest: Request {
        var operation = self
        // What follows on its messages, and counts them, is up to the one that performs them one by one.
        (operation.revision, operation.series, operation.elapsed) = (nil, nil, nil)
        if isStream { operation.transfer.delivery = .collect }
        var request = request
        request.carried = CarriedOperation(operation)
        return request
    }

    /// What the app asks.
    public var request: Request {
        _read { yield fields.value.request }
        _modify { yield &fields.value.request }
    }

    /// What sort of thing is asked for.
    public var kind: Kind { fields.value.kind }

    /// The name of a GraphQL operation, as `Home` in `query Home`; nil, the default, where it has none. Spans have it as an
    /// attribute, and are not named by it: clients may make up as many as they like.
    public var operationName: String? {
        get { fields.value.operationName }
        set { fields.value.operationName = newValue }
    }

    /// Whether a stored answer will do. Before a client has taken it on, `.cacheFirst` where it was not said.
    public var policy: RequestPolicy {
        get { fields.value.policy ?? .cacheFirst }
        set { fields.value.policy = newValue }
    }

    /// Whether operations that ask the same at the same time share one run, and so one answer. As `Kind.isShared` says
    /// unless told otherwise.
    public var isShared: Bool {
        get { fields.value.isShared }
        set { fields.value.isShared = newValue }
    }

    /// Whether the run goes on when the last who waited for it has left. No by default: leaving cancels it.
    public var isDetached: Bool {
        get { fields.value.isDetached }
        set { fields.value.isDetached = newValue }
    }

    /// Whether progress is told while bodies move. No by default.
    public var reportsProgress: Bool {
        get { fields.value.reportsProgress }
        set { fields.value.reportsProgress = newValue }
    }

    /// Which attempt this is, counted from 1 by whoever asks again.
    public var attempt: Int {
        get { fields.value.attempt }
        set { fields.value.attempt = newValue }
    }

    /// Whose answers these are, where one client serves several people or answers are stored: operations of different
    /// partitions are never the same. Empty by default. Set it before the operation is run: what an interceptor sets is
    /// not in the `key`, and then nothing is stored, and nothing stored is found.
    public var partition: String {
        get { fields.value.partition }
        set { fields.value.partition = newValue }
    }

    /// What interceptors tell each other.
    public var context: Context {
        _read { yield fields.value.context }
        _modify { yield &fields.value.context }
    }

    /// What tells apart whether two operations ask the same; nil before the client has made the message, and of what is
    /// not shared.
    public var key: Key? { question?.key }

    /// What is asked; nil where `key` is.
    var question: Question? { taken.question }

    /// The longest that this operation may take, with all attempts and the waits between them: `request.timeout`. If
    /// `nil`, the limit of the `DeadlineInterceptor` applies.
    public var deadline: Duration? {
        get { fields.value.request.timeout }
        set { fields.value.request.timeout = newValue }
    }

    /// How old a stored answer may be for `RequestPolicy.cacheFirst` to be content with it: an older one is given as
    /// stale, and the network is asked. nil, the default: as old as it likes, or as a `RequestPolicyInterceptor` says.
    public var maxAge: Duration? {
        get { fields.value.maxAge }
        set { fields.value.maxAge = newValue }
    }

    /// Performs it at the end of the pipeline; nil, the default, where it is one message with one answer.
    package var performer: (any OperationPerformer)? {
        get { fields.value.performer }
        set { fields.value.performer = newValue }
    }

    /// Says what is asked instead, where the server does not take the message; nil, the default, where nothing is.
    package var revision: (any OperationRevision)? {
        get { fields.value.revision }
        set { fields.value.revision = newValue }
    }

    /// Whether it has neither: to look at one of them copies it, even where it is nothing.
    var isOneMessage: Bool { fields.value.isOneMessage }

    /// The messages of which this is one; nil where no other may follow.
    package var series: MessageSeries? {
        get { fields.value.series }
        set { fields.value.series = newValue }
    }

    /// How long ago its first message was sent, where this is another.
    var elapsed: (@Sendable () -> Duration)? {
        get { fields.value.elapsed }
        set { fields.value.elapsed = newValue }
    }

    /// What the client lends its interceptors.
    var surroundings: Surroundings { taken.surroundings }

    /// The operation as a client takes it on.
    ///
    /// - Parameter person: whose credentials it will be given.
    func sending(
        _ transfer: TransferRequest,
        _ surroundings: Surroundings,
        for person: Int
    ) -> NetworkOperation {
        var operation = self
        let (question, scopedFields) = (Question.of(self, transfer, for: person), transfer.originScopedFields)
        let brought: HTTPFields =
            scopedFields.isEmpty ? [:] : transfer.head.headerFields.filter { scopedFields.contains($0.name) }
        if fields.value.policy == nil {
            let policy = surroundings.policy ?? kind.policy
            if operation.policy != policy { operation.policy = policy }
        }
        var transfer = transfer
        if kind.repetition != .ifIdempotent { transfer.repetition = kind.repetition }
        operation.transfer = transfer
        operation.additions = nil
        operation.taken = OperationRun(
            question: question,
            partition: partition,
            surroundings: surroundings,
            scopedFields: scopedFields,
            broughtFields: brought,
            person: person,
            logger: surroundings.capturesLogger ? surroundings.logger.captured() : nil
        )
        return operation
    }

    /// Whose credentials the pipeline had when the client took it on; 0 where it has none.
    var person: Int { taken.person }

    /// Whether the partition is still that of the question.
    var isOfKeyedPartition: Bool { fields.value.partition == taken.partition }

    /// Says that these fields hold credentials of a person, as they are now.
    mutating func note(credentials fields: Set<HTTPField.Name>, of person: Int) {
        sendRecord?.addCredentials()
        if person == self.person { note(known: fields) }
    }

    /// Says that these fields, as they are now, tell where the message belongs and not who asks.
    package mutating func note(tracing fields: Set<HTTPField.Name>) {
        note(known: fields)
    }

    private mutating func note(known fields: Set<HTTPField.Name>) {
        if sendRecord == nil { return }
        let known = transfer.head.headerFields.filter { fields.contains($0.name) }
        add { $0.knownFields += known }
    }

    /// The state that its attempts share; nil before a client has accepted it.
    package var run: OperationRun? { taken === OperationRun.none ? nil : taken }

    /// The same operation in a run of its own.
    package func inNewRun() -> NetworkOperation {
        var operation = self
        operation.taken = OperationRun(like: taken)
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

    /// The record of how the message was sent; nil if the response isn't stored.
    var sendRecord: SendRecord? { run?.sendRecord }

    /// The deadline under which it runs; nil if there is none.
    var countdown: Countdown? { run?.countdown }

    /// The logger as the caller's task has it; nil if that is the client's.
    var capturedLogger: (any BeagleLogger)? { taken.logger }

    /// Begins another attempt.
    mutating func tryAgain() {
        attempt += 1
        run?.addAttempt()
    }

    /// Whether the message is still that of a key, except for the credentials of the key's user and traces.
    func sends(_ message: Key?) -> Bool {
        var sent = transfer
        if let revised = additions?.value.revised {
            guard sent.asksTheSame(as: revised.now) else { return false }
            sent.take(revised.first)
        }
        return message == messageKey(of: sent, without: additions?.value.knownFields ?? [])
    }

    /// The message that was asked first.
    package var asked: TransferRequest { additions?.value.revised?.first ?? transfer }

    /// Sends another message, made by the client, with what interceptors put into the head of this one.
    mutating func revise(_ made: TransferRequest, withPath: Bool) {
        let first = asked
        transfer.take(made, withPath: withPath)
        let now = transfer
        add { $0.revised = (first, now) }
    }

    /// The fields that belong to the origin and that interceptors gave the message, those apart that they may give to this one.
    var addedScopedFields: HTTPFields {
        let scoped = transfer.originScopedFields
        let permitted = additions?.value.permittedFields ?? []
        // Equal at once if they are one set, as they are after a first `scope`.
        if scoped.isEmpty || scoped == permitted { return [:] }
        return transfer.head.headerFields.filter { field in
            scoped.contains(field.name) && !permitted.contains(field.name)
                && !(taken.scopedFields.contains(field.name) && taken.broughtFields.contains(field))
        }
    }

    /// Has a redirect to another origin drop these fields, and lets them go to this one although it may not be declared.
    package mutating func scope(_ fields: Set<HTTPField.Name>) {
        // A union with an empty set would be copied.
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

    /// What sort of thing is asked for. An open set: a pipeline may have interceptors that answer kinds of their own.
    public struct Kind: Sendable, Hashable {
        /// The kind's name in messages.
        public let name: String
        /// Whether operations of this kind that ask the same share one run.
        public let isShared: Bool

        /// A kind of this name. Two kinds of one name are the same only if they are shared alike.
        public init(_ name: String, isShared: Bool) {
            self.name = name
            self.isShared = isShared
        }

        /// A screen or a part of one.
        public static let component = Kind("component", isShared: true)
        /// An image.
        public static let image = Kind("image", isShared: true)
        /// A form's submission.
        public static let form = Kind("form", isShared: false)
        /// Any other request.
        public static let raw = Kind("raw", isShared: false)
        /// A GraphQL query.
        public static let query = Kind("query", isShared: true)
        /// A GraphQL mutation.
        public static let mutation = Kind("mutation", isShared: false)
        /// A GraphQL subscription.
        public static let subscription = Kind("subscription", isShared: true)

        /// The kinds that are one HTTP message and one answer, which every client and transport can perform.
        ///
        /// An array, as the first ones are found sooner than any is hashed.
        static let transfers: [Kind] = [.component, .image, .form, .raw, .query, .mutation]

        /// Whether stored responses will do if neither the operation nor the app says.
        var policy: RequestPolicy {
            switch self {
            case .component: .networkFirst
            case .raw: .http
            default: .cacheFirst
            }
        }

        /// When messages of this kind may be sent again although the server may have acted on them.
        var repetition: TransferRequest.Repetition {
            switch self {
            case .query, .subscription: .always
            case .mutation: .never
            case .form: .ifSafe
            default: .ifIdempotent
            }
        }
    }
}

extension NetworkOperation.Kind: CustomStringConvertible {
    /// The kind's name.
    public var description: String { name }
}

/// An operation on its way through a client that hands on requests alone.
private final class CarriedOperation: Sendable {
    let operation: NetworkOperation

    init(_ operation: NetworkOperation) {
        self.operation = operation
    }
}

extension NetworkOperation {
    /// The operation of a streamed body, which only one can read.
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
    /// Kind, name, policy and what is asked, with its secrets replaced: the message, or the request if there is none yet.
    public var description: String {
        let title = [kind.name, operationName].compactMap(\.self).joined(separator: " ")
        let asked = transfer.head.authority == nil ? "\(request)" : redactor.shown(transfer)
        return "\(title), \(policy)\(attempt > 1 ? ", attempt \(attempt)" : ""): \(asked)"
    }
    /// Without children, of which `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
