import BeagleNetDependencies
import BeagleNetHTTP
import BeagleNetRequestBuilder

/// The dependencies of a client that its container may hold: follows the container without keeping it alive, and keeps
/// what it had at first for the time after.
struct FollowedDependencies: Sendable {
    private weak let followed: BeagleDependencies?
    private let kept: Kept

    private struct Kept {
        let logger: any DependencyLogger
        let httpRequestBuilder: HttpRequestBuilder
        let environment: BeagleEnvironment
        let redactor: Redactor
    }

    /// Of `BeagleDependencies` nothing is kept but the values; anything else is kept itself.
    init(_ dependencies: any DependencyLogger) {
        followed = dependencies as? BeagleDependencies
        let container = followed ?? BeagleDependencies()
        kept = Kept(
            logger: followed.map { KeptLogger(logger: $0.logger) } ?? dependencies,
            httpRequestBuilder: container.httpRequestBuilder,
            environment: container.environment,
            redactor: container.redactor
        )
    }

    var container: BeagleDependencies? { followed }
    var logger: any BeagleLogger { followed?.logger ?? kept.logger.logger }
    var httpRequestBuilder: HttpRequestBuilder { followed?.httpRequestBuilder ?? kept.httpRequestBuilder }
    var environment: BeagleEnvironment { followed?.environment ?? kept.environment }
    var redactor: Redactor { followed?.redactor ?? kept.redactor }
    func log(ofForm isForm: Bool) -> NetworkLog {
        NetworkLog(logger: logger, redactor: redactor, hidesQueries: isForm)
    }
}

private struct KeptLogger: DependencyLogger {
    let logger: any BeagleLogger
}
