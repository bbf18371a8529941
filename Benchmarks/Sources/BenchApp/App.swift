public import BeagleNet
import BeagleNetHTTP
import HTTPTypes
import Logging

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension BeagleDependencies {
    /// The configuration of a new app: swift-log as it is without a bootstrap, a valid token, and a header of the app's
    /// own.
    ///
    /// - Parameter logsAll: whether each request is logged, by a handler that formats the line and drops it.
    public func configure(likeAnAppAt url: URL, logsAll: Bool) {
        environment = BeagleEnvironment(name: "benchmark", baseURL: url)
        if logsAll { logger = SwiftLogLogger(Logger(label: "benchmark") { _ in FormattingHandler() }) }
        let rules = AuthInterceptor<String>.Rules(
            load: { "token" },
            attach: { token, head in head.headerFields[.authorization] = "Bearer \(token)" }
        )
        interceptors.add(AuthInterceptor(rules))
        interceptors.add(SessionHeader())
    }
}

/// Adds a header of the app's own.
private struct SessionHeader: RequestObserver {
    private static let name = HTTPField.Name("X-Session")

    func willSend(_ operation: inout NetworkOperation) -> (any RequestObservation)? {
        if let name = Self.name { operation.transfer.head.headerFields[name] = "7" }
        return nil
    }
}

/// Formats each line and drops it.
private struct FormattingHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let line = "\(event.level) \(event.source): \(event.message) \(event.metadata.map { "\($0)" } ?? "")\n"
        precondition(!line.isEmpty)
    }
}
