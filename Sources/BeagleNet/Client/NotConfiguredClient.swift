import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder

/// Stands where no client is set, and says so to each request.
final class NotConfiguredClient: NetworkClient {
    private weak let dependencies: BeagleDependencies?
    private let context: BeagleDependencies.Context

    init(_ dependencies: BeagleDependencies) {
        self.dependencies = dependencies
        context = dependencies.context
    }

    func executeRequest(_ request: Request, completion: @escaping RequestCompletion) -> (any RequestToken)? {
        dependencies?.logger.log(Log.network(.networkClientWasNotConfigured))
        let error = NetworkError(
            .notConfigured,
            during: .build,
            "dependencies for a \(context) have no network client unless one is set",
            advice: "set `dependencies.networkClient`, or make the dependencies with `.live`"
        )
        Task { completion(.failure(error)) }
        return nil
    }
}
