import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder

/// The dependencies of a client, which don't keep its container alive.
///
/// They are the container's current values, and after the container is released, its last values. If the app passes a
/// logger that isn't a container, everything else comes from `Beagle.dependencies`.
final class FollowedDependencies: Sendable {
    /// The settings of a request, built once and reused until a dependency changes.
    final class Settings: Sendable {
        let builder: HttpRequestBuilder
        let environment: BeagleEnvironment
        /// The builder for requests to the environment.
        let environmentBuilder: HttpRequestBuilder
        let capabilities: ScreenCapabilities?
        /// The headers that only the app knows to be secret.
        let secretFields: Set<HTTPField.Name>
        let operationEnvironment: OperationEnvironment
        /// The scope that owns the client's operations.
        let operationScope: OperationScope?
        /// The last messages of the environment's builder.
        let messages = BuiltMessages()
        /// The pipeline of operations, or the error in its configuration.
        let pipeline: Result<Pipeline, NetworkError>

        init(_ dependencies: BeagleDependencies, logger: any BeagleLogger, transport: any HTTPTransport) {
            builder = dependencies.httpRequestBuilder
            environment = dependencies.environment
            capabilities = dependencies.screenCapabilities
            let redactor = dependencies.redactor
            environmentBuilder = environment.applied(to: builder, redactor, capabilities)
            secretFields = Set(redactor.secrets.compactMap(HTTPField.Name.init(_:)))
            operationEnvironment = OperationEnvironment(
                logger: logger,
                redactor: redactor,
                clock: dependencies.clock,
                origins: environmentBuilder.ownOrigins,
                callerContexts: dependencies.callerContexts,
                policy: dependencies.policy,
                partition: dependencies.partition,
                builder: environmentBuilder,
                isOffline: (transport as? any OfflineTransport)?.isOffline ?? false
            )
            operationScope = dependencies.operationScope
            let interceptors = dependencies.interceptors + [dependencies.interactiveLoads]
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
            CallerContextsKey.self, PolicyKey.self, PartitionKey.self, OperationScopeKey.self,
            ScreenCapabilitiesKey.self, ScreenRequestRulesKey.self, InteractiveLoads.Key.self,
        ])
        source = followed ?? dependencies
        self.transport = transport
    }

    /// The container that the client was given, as long as it exists.
    var container: BeagleDependencies { given ?? followed ?? Beagle.dependencies }

    var settings: Settings {
        guard let followed else { return Settings(Beagle.dependencies, logger: source.logger, transport: transport) }
        // Read before the values, so that they are read again if one changes in between.
        let version = followed.version
        if let latest = latest.withLock({ $0 }), latest.version == version { return latest.settings }
        let settings = Settings(followed, logger: source.logger, transport: transport)
        latest.withLock { $0 = (version, settings) }
        return settings
    }
}

extension HttpRequestBuilder {
    /// The origins that the app declares as its own.
    var ownOrigins: Set<Origin> {
        guard let baseURL, let base = Origin(baseURL) else { return origins }
        return origins.union([base])
    }
}
