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
        let caller = Caller(of: container)
        return executeRequest(request) { result in
            queue.async { caller.run { completion(result) } }
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
        let caller = Caller(of: container)
        return executeRequest(request) { result in
            caller.run { _ = Task { @MainActor in completion(result) } }
        }
    }
}
