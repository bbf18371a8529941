import BeagleNetDependencies
public import BeagleNetHTTP
public import BeagleNetRequestBuilder
public import Dispatch

extension NetworkClient {
    /// Starts a request whose completion runs on this queue.
    @discardableResult
    public func executeRequest(
        _ request: Request,
        deliverOn queue: DispatchQueue,
        completion: @escaping RequestCompletion
    ) -> (any RequestToken)? {
        executeRequest(request) { result in
            let scope = Beagle.scope
            let caller = scope.dependencies.callerContexts.capture()
            queue.async { scope.run { caller.run { completion(result) } } }
        }
    }

    /// Starts a request whose completion runs on the main actor, where it may touch the user interface:
    /// `client.executeRequest(request, deliverOn: MainActor.shared) { result in … }`.
    @discardableResult
    public func executeRequest(
        _ request: Request,
        deliverOn actor: MainActor,
        completion: @escaping @MainActor @Sendable (NetworkResult) -> Void
    ) -> (any RequestToken)? {
        executeRequest(request) { result in
            Task { @MainActor in completion(result) }
        }
    }
}
