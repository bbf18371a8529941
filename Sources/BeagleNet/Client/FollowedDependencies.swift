import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder

/// The dependencies of a client that its container may hold: as they are now, and after the container has gone as they
/// were last. Whoever gives a logger that is no container has the rest of `Beagle.dependencies`.
final class FollowedDependencies: Sendable {
    /// What a request needs besides the logger, put together once for all requests between two changes.
    struct Settings {
        let builder: HttpRequestBuilder
        let environment: BeagleEnvironment
        let redactor: Redactor
        /// The builder for requests to the environment.
        let environmentBuilder: HttpRequestBuilder
        /// Headers that only the app knows as secret.
        let secretFields: Set<HTTPField.Name>

        init(_ dependencies: BeagleDependencies) {
            builder = dependencies.httpRequestBuilder
            environment = dependencies.environment
            redactor = dependencies.redactor
            environmentBuilder = environment.applied(to: builder)
            secretFields = Set(redactor.secrets.compactMap(HTTPField.Name.init(_:)))
        }
    }

    private weak let given: BeagleDependencies?
    private let followed: BeagleDependencies?
    private let source: any DependencyLogger
    private let latest = Lock<(version: Int, settings: Settings)?>(nil)

    init(_ dependencies: any DependencyLogger) {
        given = dependencies as? BeagleDependencies
        followed = given?.follower(keeping: [
            LoggerKey.self, HttpRequestBuilderKey.self, EnvironmentKey.self, RedactorKey.self, UrlBuilderKey.self,
            BodyDecoderKey.self,
        ])
        source = followed ?? dependencies
    }

    /// The container given, while it lives.
    var container: BeagleDependencies { given ?? followed ?? Beagle.dependencies }
    var logger: any BeagleLogger { source.logger }

    var settings: Settings {
        guard let followed else { return Settings(Beagle.dependencies) }
        // Asked before the values: a change in between makes them be read once more.
        let version = followed.version
        if let latest = latest.withLock({ $0 }), latest.version == version { return latest.settings }
        let settings = Settings(followed)
        latest.withLock { $0 = (version, settings) }
        return settings
    }
}
