import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder

/// The dependencies of a client that its container may hold: as they are now, and after the container has gone as they
/// were last. Whoever gives a logger that is no container has the rest of `Beagle.dependencies`.
struct FollowedDependencies: Sendable {
    private weak let given: BeagleDependencies?
    private let followed: BeagleDependencies?
    private let logger: any DependencyLogger

    init(_ dependencies: any DependencyLogger) {
        given = dependencies as? BeagleDependencies
        followed = given?.follower(keeping: [
            LoggerKey.self, HttpRequestBuilderKey.self, EnvironmentKey.self, RedactorKey.self, UrlBuilderKey.self,
            BodyDecoderKey.self,
        ])
        logger = followed ?? dependencies
    }

    /// The container given, while it lives.
    var container: BeagleDependencies { given ?? current }
    var httpRequestBuilder: HttpRequestBuilder { current.httpRequestBuilder }
    var environment: BeagleEnvironment { current.environment }
    var redactor: Redactor { current.redactor }

    private var current: BeagleDependencies { followed ?? Beagle.dependencies }

    func log(ofForm isForm: Bool) -> NetworkLog {
        NetworkLog(logger: logger.logger, redactor: redactor, hidesQueries: isForm)
    }
}
