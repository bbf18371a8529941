import BeagleNetDependencies
public import BeagleNetHTTP
public import BeagleNetRequestBuilder
public import Dispatch

extension NetworkClient {
    /// Starts a request and calls its completion on a queue.
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

    /// Starts a request and calls its completion on the main actor, so that it may update the user interface.
    ///
    /// ```swift
    /// client.executeRequest(request, deliverOn: MainActor.shared) { result in … }
    /// ```
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
