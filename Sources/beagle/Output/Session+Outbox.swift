import BeagleNet
import BeagleNetDependencies
import BeagleNetHTTP
import Foundation

extension Session {
    /// Adds the request to an outbox, and receives its response after earlier entries have been sent.
    ///
    /// - Parameters:
    ///   - interceptors: The interceptors for the request.
    ///   - reason: The reason that the form is sent without being stored, or `nil` if it may be stored.
    func receive(
        _ request: TransferRequest,
        through outbox: Outbox,
        _ interceptors: [any Interceptor],
        notStoredBecause reason: String?
    ) async throws -> ReceivedResponse {
        let refused = Set(try outbox.entries().filter(\.isRefused).map(\.id))
        defer {
            console.showBar("")
            show(of: outbox, refusedBefore: refused)
        }
        return try await withSavedState {
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
                    reasonNotToStore: reason
                )
            }
            return try await take(response, keepsBody: false)
        }
    }

    /// Reports earlier entries that were refused, and problems with the outbox.
    private func show(of outbox: Outbox, refusedBefore: Set<String>) {
        do throws(NetworkError) {
            for entry in try outbox.entries() where entry.isRefused && !refusedBefore.contains(entry.id) { note(entry) }
        } catch {
            note(error)
        }
        for damage in outbox.takeDamages() { note(damage) }
    }

    /// Reports a damaged file or another problem of an outbox.
    func note(_ damage: NetworkError) {
        console.note(damage)
    }

    func note(_ entry: Outbox.Entry) {
        console.note("beagle: \(entry)".printable)
    }

    /// Creates the client that sends the entries of an outbox.
    ///
    /// - Parameters:
    ///   - interceptors: The interceptors for the entries.
    ///   - origin: The origin that receives the credentials of the command line, or `nil` for all origins.
    func client(
        of outbox: Outbox,
        _ interceptors: [any Interceptor],
        credentialsFor origin: Origin?,
        _ options: TransferOptions
    ) throws(NetworkError) -> NetworkClientDefault {
        let dependencies = BeagleDependencies()
        dependencies.logger = logger
        dependencies.interceptors =
            [OutboxInterceptor(outbox)] + (try recorded(interceptors + [CommandLineCredentials(flags, for: origin)]))
        return NetworkClientDefault(dependencies: dependencies, transport: self, options: options)
    }
}

/// Adds the credentials of the command line to entries of an outbox, which are stored without credentials.
private struct CommandLineCredentials: Interceptor {
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
        // Entries have no timeout of their own.
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
    /// The secret header fields of the command line.
    var credentialFields: HTTPFields {
        var head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil)
        apply(to: &head)
        head.headerFields.removeAll { !Redactor().isSecret(header: $0.name.rawName) }
        return head.headerFields
    }
}
