import BeagleNetHTTP
import BeagleNetRequestBuilder

/// Says what is asked instead, where a server does not take a message as it is: a document's text where it does not know the
/// hash.
///
/// Each message goes all the way by itself, so that it is signed, retried, logged and recorded as what it is. Who asked hears
/// of the last, and its answer is stored under what was asked.
package protocol OperationRevision: Sendable {
    /// The operation with another message, and what may follow on that.
    ///
    /// - Parameter outcome: what came of the message; nil before it is sent.
    /// - Returns: nil where the message, or what came of it, stands.
    func revised(
        _ operation: NetworkOperation,
        after outcome: Result<NetworkOperation.Result, NetworkError>?
    ) throws(NetworkError) -> NetworkOperation?

    /// The operation with a message that needs no other, for an outbox, which sends it later and by itself.
    func settled(_ operation: NetworkOperation) throws(NetworkError) -> NetworkOperation
}

extension NetworkOperation {
    /// Performs it, and what is to be asked in its place.
    ///
    /// - Parameter perform: performs one message.
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

    /// Whether another message follows on this.
    package func isRevised(after outcome: Swift.Result<Result, NetworkError>) -> Bool {
        do throws(NetworkError) {
            return try revision?.revised(self, after: outcome) != nil
        } catch {
            return false
        }
    }

    /// The same with another request, and with the message of it where a client has taken it on. What was said of the first
    /// request besides stays: options, fields, items of its query.
    ///
    /// - Parameters:
    ///   - request: what is asked instead.
    ///   - made: the request that was made of the same before anybody said more of it.
    package func asking(_ request: Request, insteadOf made: Request) throws(NetworkError) -> NetworkOperation {
        var operation = self
        operation.request.ask(request, insteadOf: made)
        guard let builder = surroundings.builder else { return operation }
        let built = try builder.build(operation.request, options: transfer.options, transfer.delivery)
        operation.revise(built, withPath: request.query != made.query)
        return operation
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
    /// Asks what another message asks.
    mutating func take(_ other: TransferRequest, withPath: Bool = true) {
        head.method = other.head.method
        if withPath { head.path = other.head.path }
        head.headerFields[.contentType] = other.head.headerFields[.contentType]
        body = other.body
    }

    /// Whether nothing of that has changed, as far as can be told without reading a file or a stream.
    func asksTheSame(as other: TransferRequest) -> Bool {
        head.method == other.head.method && head.path == other.head.path
            && head.headerFields[.contentType] == other.head.headerFields[.contentType]
            && body?.data == other.body?.data && (body == nil) == (other.body == nil)
    }
}
