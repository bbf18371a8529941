import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder

/// A client that fails each request because the app hasn't set a client.
final class NotConfiguredClient: NetworkClient {
    private weak let dependencies: BeagleDependencies?
    private let context: BeagleDependencies.Context

    init(_ dependencies: BeagleDependencies) {
        self.dependencies = dependencies
        context = dependencies.context
    }

    func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
        let error = notConfiguredError()
        Task { completion(.failure(error)) }
        return nil
    }

    nonisolated(nonsending) func run(
        _ operation: NetworkOperation,
        emit: @escaping @Sendable (NetworkOperation.Result) -> Void
    ) async throws(NetworkError) -> NetworkOperation.Result {
        throw notConfiguredError()
    }

    func watch(
        _ operation: NetworkOperation,
        ownedBy scopes: [OperationScope],
        _ receive: @escaping @Sendable (NetworkOperation.Event) -> Void
    ) -> (any RequestToken)? {
        receive(.failure(notConfiguredError()))
        return nil
    }

    private func notConfiguredError() -> NetworkError {
        dependencies?.logger.log(Log.network(.networkClientWasNotConfigured))
        return NetworkError(
            .notConfigured,
            during: .build,
            "no network client is set, and dependencies for a \(context) have no default client",
            advice: "set or register `dependencies.networkClient`, or create the dependencies with `.live`"
        )
    }
}
