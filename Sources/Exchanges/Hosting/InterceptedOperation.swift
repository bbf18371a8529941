import BeagleNet
import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetURLSession
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The exchange operation behind a pipeline operation while an interceptor handles it.
struct InterceptedOperation: NetworkOperation.ContextKey {
    static let defaultValue: InterceptedOperation? = nil

    let operation: Operation
    /// The message as the interceptor received it.
    let sent: HTTPRequest
    let outputs: ForwardingPublisher.Outputs
    let intercepted: InterceptedOperations

    /// Returns the exchange operation with the interceptor's changes to its message.
    fileprivate func operation(with changed: NetworkOperation) -> Operation {
        var changedOperation = operation
        var (head, scoped) = (changed.transfer.head, changed.transfer.originScopedFields)
        let isMoved = Origin(of: head) != Origin(of: sent)
        if isMoved {
            head.headerFields.removeOriginScopedFields(
                sent.headerFields,
                changedOperation.scopedFields,
                changed.redactor
            )
        }
        if head != sent { changedOperation.request.apply(head, sent) }
        if isMoved {
            changedOperation.scope = scoped.isEmpty ? nil : FieldScope(names: scoped, origin: changedOperation.origin)
        } else if !scoped.isSubset(of: changedOperation.scopedFields) {
            scoped.formUnion(changedOperation.scopedFields)
            changedOperation.scope = FieldScope(
                names: scoped,
                permitted: changedOperation.scope?.permitted ?? [],
                origin: changedOperation.origin
            )
        }
        let policy = Operation.Policy(changed.policy)
        if policy != changedOperation.policy { changedOperation.policy = policy }
        return changedOperation
    }
}

/// The end of an interceptor exchange's pipeline, which sends operations down the exchange chain.
struct BottomInterceptor: Interceptor {
    nonisolated(nonsending) func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        guard let context = operation.context[InterceptedOperation.self] else { return try await next(operation, emit) }
        return try await context.intercepted.forward(context.operation(with: operation), context.outputs, emit).get()
    }
}

extension URLRequest {
    /// Applies the changes of a message's URL and header fields.
    mutating func apply(_ changed: HTTPRequest, _ sent: HTTPRequest) {
        // An invalid URL is rejected when the message is built. Until then the old URL stays.
        if changed.urlText != sent.urlText, let url = try? URLReference(changed.urlText).url() { self.url = url }
        for name in Set(changed.headerFields.map(\.name) + sent.headerFields.map(\.name))
        where changed.headerFields[name] != sent.headerFields[name] {
            setValue(changed.headerFields[name], forHTTPHeaderField: name.rawName)
        }
    }
}
