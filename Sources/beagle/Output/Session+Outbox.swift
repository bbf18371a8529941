import BeagleNet
import BeagleNetDependencies
import BeagleNetHTTP
import Foundation

extension Session {
    /// Puts the request into an outbox and receives the answer, after what is before it there.
    ///
    /// - Parameters:
    ///   - interceptors: what the request goes through on its way.
    ///   - reason: why the form is sent without being kept; `nil` if it may be kept.
    func receive(
        _ request: TransferRequest,
        through outbox: Outbox,
        _ interceptors: [any Interceptor],
        notKeptBecause reason: String?
    ) async throws -> ReceivedResponse {
        let refused = Set(try outbox.entries().filter(\.isRefused).map(\.id))
        defer {
            console.showBar("")
            tell(of: outbox, refusedBefore: refused)
        }
        return try await remembering {
            var request = request
            if console.hasTerminal {
                let bar = ProgressBar(on: console)
                request.onProgress = { bar.show($0) }
            }
            let client = try client(of: outbox, interceptors, credentialsFor: Origin(of: request.head), request.options)
            let response = try await outbox.sending(with: client) {
                try await outbox.submit(
                    request,
                    recorded(interceptors),
                    transport: self,
                    logger: logger,
                    reasonNotToKeep: reason
                )
            }
            return try await take(response, keepsBody: false)
        }
    }

    /// Says what became of what was before the request.
    private func tell(of outbox: Outbox, refusedBefore: Set<String>) {
        do throws(NetworkError) {
            for entry in try outbox.entries() where entry.isRefused && !refusedBefore.contains(entry.id) { note(entry) }
        } catch {
            note(error)
        }
        for damage in outbox.takeDamages() { note(damage) }
    }

    /// Notes that a file of an outbox is no entry, or what else is wrong there.
    func note(_ damage: NetworkError) {
        console.note("beagle: \(damage.message)\(damage.advice.map { "; \($0)" } ?? "")".printable)
    }

    func note(_ entry: Outbox.Entry) {
        console.note("beagle: \(entry)".printable)
    }

    /// What sends the entries of an outbox.
    ///
    /// - Parameters:
    ///   - interceptors: what they go through on their way.
    ///   - origin: who has the credentials of the command line; all where nil.
    func client(
        of outbox: Outbox,
        _ interceptors: [any Interceptor],
        credentialsFor origin: Origin?,
        _ options: TransferOptions
    ) throws(NetworkError) -> NetworkClientDefault {
        let dependencies = BeagleDependencies()
        dependencies.logger = logger
        dependencies.interceptors =
            [OutboxInterceptor(outbox)] + (try recorded(interceptors + [GivenCredentials(flags, for: origin)]))
        return NetworkClientDefault(dependencies: dependencies, transport: self, options: options)
    }
}

/// Brings the credentials of the command line to entries of an outbox, in which there are none.
private struct GivenCredentials: Interceptor {
    let place: Pipeline.Place? = .headers
    private let fields: HTTPFields
    private let maxTime: Duration?
    private let origin: Origin?

    init(_ flags: CommonFlags, for origin: Origin?) {
        self.origin = origin
        fields = flags.credentialFields
        maxTime = flags.maxTime.map { .seconds($0) }
    }

    func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        var operation = operation
        // Entries have no limit of their own.
        if let maxTime { operation.transfer.options.timeouts.total = maxTime }
        if origin == nil || origin == operation.origin {
            for field in fields where !operation.transfer.head.headerFields.contains(field.name) {
                operation.transfer.head.headerFields.append(field)
                operation.transfer.originScopedFields.insert(field.name)
            }
        } else {
            operation.transfer.options.dropCredentials()
        }
        return try await next(operation, emit)
    }
}

extension CommonFlags {
    /// The header fields of the command line that are secret.
    var credentialFields: HTTPFields {
        var head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil)
        apply(to: &head)
        head.headerFields.removeAll { !Redactor().isSecret(header: $0.name.rawName) }
        return head.headerFields
    }
}
