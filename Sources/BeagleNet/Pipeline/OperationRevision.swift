package import BeagleNetHTTP
import BeagleNetRequestBuilder

/// A rule that replaces a message which the server doesn't accept.
///
/// For example, it sends a GraphQL document's text to a server that doesn't know the document's hash.
///
/// Each message takes the whole way through the pipeline, so that it is signed, retried, logged and recorded by itself.
/// The caller receives the result of the last message. A cache stores it under the key of the first.
package protocol OperationRevision: Sendable {
    /// Returns the operation with another message and the rule for what may follow it.
    ///
    /// - Parameter outcome: The outcome of the message; `nil` before it is sent.
    /// - Returns: `nil` to keep the message, or its outcome.
    func revised(
        _ operation: NetworkOperation,
        after outcome: Result<NetworkOperation.Result, NetworkError>?
    ) throws(NetworkError) -> NetworkOperation?

    /// Returns the operation with a message that needs no replacement, for an outbox, which sends the message later and
    /// by itself.
    func standaloneOperation(_ operation: NetworkOperation) throws(NetworkError) -> NetworkOperation
}

extension NetworkOperation {
    /// Performs the operation, and then the messages that replace it.
    ///
    /// - Parameter perform: Performs one message.
    nonisolated(nonsending) func revising(
        _ perform: (NetworkOperation) async throws(NetworkError) -> Result
    ) async throws(NetworkError) -> Result {
        let (elapsed, series) = (stopwatch(), MessageSeries())
        defer { series.end() }
        var operation = try revision?.revised(self, after: nil) ?? self
        operation.series = series
        while let revision = operation.revision {
            let outcome = await Swift.Result<Result, NetworkError>.catching { [operation] () throws(NetworkError) in
                try await perform(operation)
            }
            guard let next = try revision.revised(operation, after: outcome) else { return try outcome.get() }
            operation = next
            operation.elapsed = elapsed
        }
        return try await perform(operation)
    }

    /// Whether another message follows this one.
    package func isRevised(after outcome: Swift.Result<Result, NetworkError>) -> Bool {
        do throws(NetworkError) {
            return try revision?.revised(self, after: outcome) != nil
        } catch {
            return false
        }
    }

    /// Returns the operation with another request and, if a client has accepted it, with the message built from that
    /// request.
    ///
    /// Options, fields and query items that were added to the first request stay.
    ///
    /// - Parameters:
    ///   - request: The new request.
    ///   - made: The first request as it was before anything was added to it.
    package func asking(_ request: Request, insteadOf made: Request) throws(NetworkError) -> NetworkOperation {
        var operation = self
        operation.request.ask(request, insteadOf: made)
        guard let builder = operationEnvironment.builder else { return operation }
        let built = try builder.build(operation.request, options: transfer.options, transfer.delivery)
        operation.revise(built, withPath: request.query != made.query)
        return operation
    }

    /// Returns an operation for a message that wasn't built from a request, with the dependencies of this operation's
    /// client.
    package func sibling(_ transfer: TransferRequest, kind: Kind) -> NetworkOperation {
        NetworkOperation(request, kind: kind).sending(transfer, operationEnvironment, for: 0)
    }
}

extension Request {
    fileprivate mutating func ask(_ other: Request, insteadOf made: Request) {
        for item in made.query {
            if let index = query.firstIndex(of: item) { query.remove(at: index) }
        }
        query = other.query + query
        guard case .rawRequest(var data) = other.type, case .rawRequest(let now) = type,
            case .rawRequest(let before) = made.type
        else { return }
        let added = (now.headers ?? [:]).filter { name, value in before.headers?[name] != value }
        data.headers = (data.headers ?? [:]).merging(added) { $1 }
        type = .rawRequest(data)
    }
}

extension TransferRequest {
    /// Replaces the method, content type and body with those of another message, and the path if `withPath` is true.
    mutating func replaceContent(with other: TransferRequest, withPath: Bool = true) {
        head.method = other.head.method
        if withPath { head.path = other.head.path }
        head.headerFields[.contentType] = other.head.headerFields[.contentType]
        body = other.body
    }

    /// Whether the method, path, content type and body equal those of another message.
    ///
    /// Doesn't compare files and streams.
    func hasSameContent(as other: TransferRequest) -> Bool {
        head.method == other.head.method && head.path == other.head.path
            && head.headerFields[.contentType] == other.head.headerFields[.contentType]
            && body?.data == other.body?.data && (body == nil) == (other.body == nil)
    }
}

/// The messages of one run of an operation in which further messages may follow (`OperationRevision`).
///
/// Interceptors use it for work that spans several messages.
package final class MessageSeries: Sendable {
    private let completionHandlers = Lock<[@Sendable () -> Void]>([])

    /// Registers a closure to call when no further message follows.
    package func onEnd(_ closing: @escaping @Sendable () -> Void) {
        completionHandlers.withLock { $0.append(closing) }
    }

    func end() {
        for closing in completionHandlers.withLock({ $0 }) { closing() }
    }
}
