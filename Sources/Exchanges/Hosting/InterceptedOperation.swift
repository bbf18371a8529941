import BeagleNet
import BeagleNetDependencies
import BeagleNetHTTP

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
