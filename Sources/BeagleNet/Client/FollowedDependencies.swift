import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder

/// The dependencies of a client that its container may hold: as they are now, and after the container has gone as they
/// were last. Whoever gives a logger that is no container has the rest of `Beagle.dependencies`.
final class FollowedDependencies: Sendable {
    /// What a request needs, put together once for all requests between two changes.
    final class Settings: Sendable {
        let builder: HttpRequestBuilder
        let environment: BeagleEnvironment
        /// The builder for requests to the environment.
        let environmentBuilder: HttpRequestBuilder
        /// Headers that only the app knows as secret.
        let secretFields: Set<HTTPField.Name>
        let surroundings: Surroundings
        /// What owns the client's operations.
        let operationScope: OperationScope?
        /// What operations pass through, or what is wrong with it.
        let pipeline: Result<Pipeline, NetworkError>

        init(_ dependencies: BeagleDependencies, logger: any BeagleLogger, transport: any HTTPTransport) {
            builder = dependencies.httpRequestBuilder
            environment = dependencies.environment
            environmentBuilder = environment.applied(to: builder)
            let redactor = dependencies.redactor
            secretFields = Set(redactor.secrets.compactMap(HTTPField.Name.init(_:)))
            surroundings = Surroundings(
                logger: logger,
                redactor: redactor,
                clock: dependencies.clock,
                origins: environmentBuilder.ownOrigins,
                callerContexts: dependencies.callerContexts,
                policy: dependencies.policy,
                builder: environmentBuilder,
                isOffline: (transport as? any OfflineTransport)?.isOffline ?? false
            )
            operationScope = dependencies.operationScope
            let interceptors = dependencies.interceptors
            pipeline = Result { () throws(NetworkError) in try Pipeline(interceptors, transport: transport) }
        }
    }

    private weak let given: BeagleDependencies?
    private let followed: BeagleDependencies?
    private let source: any DependencyLogger
    private let transport: any HTTPTransport
    private let latest = Lock<(version: Int, settings: Settings)?>(nil)

    init(_ dependencies: any DependencyLogger, transport: any HTTPTransport) {
        given = dependencies as? BeagleDependencies
        followed = given?.follower(keeping: [
            LoggerKey.self, HttpRequestBuilderKey.self, EnvironmentKey.self, RedactorKey.self, UrlBuilderKey.self,
            BodyDecoderKey.self, InterceptorsKey.self, ClockKey.self,
            CallerContextsKey.self, PolicyKey.self, OperationScopeKey.self,
        ])
        source = followed ?? dependencies
        self.transport = transport
    }

    /// The container given, while it lives.
    var container: BeagleDependencies { given ?? followed ?? Beagle.dependencies }

    var settings: Settings {
        guard let followed else { return Settings(Beagle.dependencies, logger: source.logger, transport: transport) }
        // Asked before the values: a change in between makes them be read once more.
        let version = followed.version
        if let latest = latest.withLock({ $0 }), latest.version == version { return latest.settings }
        let settings = Settings(followed, logger: source.logger, transport: transport)
        latest.withLock { $0 = (version, settings) }
        return settings
    }
}

extension HttpRequestBuilder {
    /// The app's own origins, as far as it declares any.
    var ownOrigins: Set<Origin> {
        guard let baseURL, let base = Origin(baseURL) else { return origins }
        return origins.union([base])
    }
}
