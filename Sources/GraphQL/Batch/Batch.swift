import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A set of operations that are sent in one request.
final class Batch: Sendable {
    typealias Outcome = NetworkOperation.Outcome

    /// The properties that the operations of a batch must have in common.
    struct Key: Hashable {
        private let kind: NetworkOperation.Kind
        private let head: HTTPRequest
        private let options: TransferOptions
        private let partition: String

        init(of operation: NetworkOperation) {
            kind = operation.kind
            head = operation.transfer.head
            options = operation.transfer.options
            partition = operation.partition
        }
    }

    private struct Member {
        let operation: NetworkOperation
        let emit: Interceptor.Emit
        let outcome: Promise<Outcome>
    }

    private struct State {
        var members: [Member] = []
        var bytes = 2
        var isSent = false
        /// The task that waits for further operations.
        var window: Task<Void, Never>?
        /// The task that performs the request, and the number of operations that still wait for it.
        var task: Task<Void, Never>?
        var waiting = 0
    }

    private let state = Lock(State())

    private let limit: Int
    private let maxBytes: Int

    /// Creates an empty batch.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of operations.
    ///   - maxBytes: The maximum size of the body, in bytes. A batch of one operation may be larger.
    init(limit: Int, maxBytes: Int) {
        self.limit = limit
        self.maxBytes = maxBytes
    }

    /// Adds an operation to the batch.
    ///
    /// - Parameter outcome: Completed with the outcome of the operation.
    /// - Returns: Whether the batch is now full; `nil` if there is no room for the operation.
    func add(
        _ operation: NetworkOperation,
        _ emit: @escaping Interceptor.Emit,
        _ outcome: Promise<Outcome>
    ) -> Bool? {
        let size = (operation.batchElement?.count ?? 0) + 1
        let (limit, maxBytes) = (limit, maxBytes)
        return state.withLock { state in
            let hasRoom = state.members.isEmpty || state.members.count < limit && state.bytes + size <= maxBytes
            guard !state.isSent, hasRoom else { return nil }
            state.bytes += size
            state.waiting += 1
            state.members.append(Member(operation: operation, emit: emit, outcome: outcome))
            return state.members.count >= limit
        }
    }

    /// Cancels the window's task when the batch is sent, because the task retains the client.
    func wait(in window: Task<Void, Never>) {
        let isSent = state.withLock { state in
            if !state.isSent { state.window = window }
            return state.isSent
        }
        if isSent { window.cancel() }
    }

    /// Sends the operations of the batch, on the first call.
    func send(_ next: Interceptor.Next) {
        let (members, window) = state.withLock { state -> ([Member], Task<Void, Never>?) in
            defer { (state.isSent, state.window) = (true, nil) }
            return (state.isSent ? [] : state.members, state.window)
        }
        window?.cancel()
        guard !members.isEmpty else { return }
        let task = Task {
            let outcomes = await Self.outcomes(of: members, next)
            for (member, outcome) in zip(members, outcomes) { member.outcome.complete(outcome) }
        }
        let isAbandoned = state.withLock { state in
            state.task = task
            return state.waiting == 0
        }
        if isAbandoned { task.cancel() }
    }

    /// Removes the operation with this outcome, which becomes `.cancelled`.
    func leave(_ outcome: Promise<Outcome>) {
        let (task, isSent) = state.withLock { state -> (Task<Void, Never>?, Bool) in
            guard let index = state.members.firstIndex(where: { $0.outcome === outcome }) else { return (nil, false) }
            state.members.remove(at: index)
            state.waiting -= 1
            return (state.waiting == 0 ? state.task : nil, state.isSent)
        }
        var error = NetworkError.cancelled(during: isSent ? .firstByte : .queue)
        error.mayHaveReachedServer = isSent
        outcome.complete(.failure(error))
        task?.cancel()
    }

    /// Returns the outcome of each operation, in order.
    private static func outcomes(
        of members: [Member],
        _ next: Interceptor.Next
    ) async -> [Outcome] {
        let operations = members.map(\.operation)
        var (whole, emit) = (operations[0], members[0].emit)
        if operations.count > 1 {
            // The deadline of one operation must not apply to the others.
            whole = whole.inNewRun()
            whole.transfer.body = HTTPBody(operations.joined)
            // The operation name and the progress of one operation don't apply to the whole batch.
            (whole.operationName, emit) = (nil, { _ in })
        }
        let (operation, batchEmit) = (whole, emit)
        let outcome = await Outcome.catching { () throws(NetworkError) in try await next(operation, batchEmit) }
        return operations.count == 1 ? [outcome] : split(outcome, among: operations)
    }

    private static func split(_ outcome: Outcome, among operations: [NetworkOperation]) -> [Outcome] {
        let count = operations.count
        switch outcome {
        case .success(let whole):
            guard let response = whole.response else { return Array(repeating: outcome, count: count) }
            return response.data.split(among: operations).map { part in
                part.map { data in
                    var response = response
                    response.data = data
                    return NetworkOperation.Result(.response(response), from: whole.source)
                }.mapError { $0.attaching(response) }
            }
        case .failure(let error):
            // Some servers refuse a batch with one response for each operation.
            guard let data = error.data, data.first == UInt8(ascii: "[") else {
                var own = error
                if error.response?.status == .badRequest { own.advice = own.advice ?? Data.adviceAgainstBatches }
                return Array(repeating: .failure(own), count: count)
            }
            return data.split(in: count).map { part in
                var own = error
                if case .success(let data) = part { own.data = data }
                return .failure(own)
            }
        }
    }
}

extension Data {
    fileprivate static let adviceAgainstBatches = "remove the BatchInterceptor if the server does not support batching"

    /// Splits a list into the responses to these operations.
    fileprivate func split(among operations: [NetworkOperation]) -> [Result<Data, NetworkError>] {
        let parts = split(in: operations.count)
        guard let mismatch = operations.firstMismatch(in: parts) else { return parts }
        let error = NetworkError(
            .decoding,
            during: .decode,
            "batch response out of order: element \(mismatch + 1) does not match operation \(mismatch + 1) of \(parts.count)",
            advice: "make the server return results in the order of the operations, or remove the BatchInterceptor"
        )
        // The order of the other elements is just as doubtful.
        return parts.map { _ in .failure(error) }
    }

    /// Splits a list that must have a given number of elements.
    fileprivate func split(in count: Int) -> [Result<Data, NetworkError>] {
        func all(_ message: String) -> [Result<Data, NetworkError>] {
            let error = NetworkError(.decoding, during: .decode, message, advice: Self.adviceAgainstBatches)
            return Array(repeating: .failure(error), count: count)
        }
        do throws(JSONFault) {
            let root = try ParsedJSON(self).root
            // Some servers refuse the whole batch with one response, for example because of an unknown hash.
            if root["data"]?.kind ?? .null == .null, root["errors"]?.elements.contains(where: { _ in true }) == true {
                return Array(repeating: .success(self), count: count)
            }
            guard root.kind == .array else { return all("the response to \(count) batched operations is not a list") }
            let parts = root.elements.map { Result<Data, NetworkError>.success(Data($0.raw)) }
            guard parts.count == count else {
                return all("the response to \(count) batched operations has \(counted(parts.count, "element"))")
            }
            return parts
        } catch {
            let fault = "\(error.reason) at byte \(error.offset)"
            return all("the response to \(count) batched operations is not valid JSON: \(fault)")
        }
    }
}

extension [NetworkOperation] {
    /// The bodies of the operations as a JSON list.
    fileprivate var joined: Data {
        var list = Data("[".utf8)
        for (index, operation) in enumerated() {
            if index > 0 { list.append(UInt8(ascii: ",")) }
            list.append(operation.batchElement ?? Data())
        }
        list.append(UInt8(ascii: "]"))
        return list
    }

    /// Returns the index of the first operation whose response has data that it didn't request. `nil` if all responses
    /// match, or if all operations request the same fields.
    fileprivate func firstMismatch(in parts: [Result<Data, NetworkError>]) -> Int? {
        let expected = map(\.responseKeys)
        guard Set(expected).count > 1 else { return nil }
        return indices.first { index in
            guard let expected = expected[index], case .success(let part) = parts[index] else { return false }
            return !expected.isSuperset(of: part.dataKeys)
        }
    }
}

extension Data {
    /// The members of a response's data; empty if it has no data object.
    fileprivate var dataKeys: Set<String> {
        do throws(JSONFault) {
            return Set(try TopLevelMembers(self).dataMembers.map(\.name)).subtracting(["__typename"])
        } catch {
            return []
        }
    }
}

extension NetworkOperation {
    /// The response keys that the operation requests; `nil` if its document isn't available.
    fileprivate var responseKeys: Set<String>? {
        do {
            if let request = (revision as? DocumentRevision)?.message.request, let text = request.query {
                return Set(try GraphQLDocument.cached(text).operation(named: request.operationName).responseKeys)
            }
            guard let message = try batchElement.map({ try ParsedJSON($0).root }), let text = message["query"]?.string
            else {
                return nil
            }
            let name = message["operationName"]?.string
            return Set(try GraphQLDocument.cached(text).operation(named: name).responseKeys)
        } catch {
            return nil
        }
    }

    /// The body as an element of a batch; `nil` if the operation can't be batched.
    var batchElement: Data? {
        guard performer == nil, transfer.head.method == .post, transfer.delivery == .collect,
            let data = transfer.body?.data, data.first == UInt8(ascii: "{"),
            transfer.head.headerFields[.contentType]?.hasPrefix("application/json") == true
        else { return nil }
        return data
    }
}
