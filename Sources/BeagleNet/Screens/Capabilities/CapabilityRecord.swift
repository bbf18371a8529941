import BeagleNetDependencies
import BeagleNetHTTP

/// A record of the findings that were reported, and of the origins that don't accept a list, which all copies of the
/// capabilities share.
final class CapabilityRecord: Sendable {
    /// A finding without its screen, so that a name is reported once.
    private struct Reported: Hashable {
        let kind: ScreenCapabilities.Finding.Kind
        let name: String
    }

    private struct State {
        var reported: Set<Reported> = []
        var refusals: Set<Origin> = []
        var hasLoggedSize = false
    }

    /// A server may send any number of names.
    private static let maxFindings = 1_000

    private let onFinding: @Sendable (ScreenCapabilities.Finding) -> Void
    private let state = Lock(State())

    init(_ onFinding: @escaping @Sendable (ScreenCapabilities.Finding) -> Void) {
        self.onFinding = onFinding
    }

    /// Reports a finding, unless its kind and name were reported before.
    func report(_ finding: ScreenCapabilities.Finding, to logger: any BeagleLogger) {
        let isNew = state.withLock { state in
            state.reported.count < Self.maxFindings
                && state.reported.insert(Reported(kind: finding.kind, name: finding.name)).inserted
        }
        guard isNew else { return }
        logger.log(CapabilityLog(finding))
        onFinding(finding)
    }

    /// Whether an origin asked for the list although it had received it.
    func isRefused(by origin: Origin) -> Bool { state.withLock { $0.refusals.contains(origin) } }

    /// Records that an origin asked for the list although it had received it.
    func addRefusal(by origin: Origin) { state.withLock { _ = $0.refusals.insert(origin) } }

    /// Logs once that the list is too large.
    func reportSize(_ bytes: Int, to logger: any BeagleLogger) {
        let isNew = state.withLock { state in
            defer { state.hasLoggedSize = true }
            return !state.hasLoggedSize
        }
        if isNew { logger.log(CapabilityLog(listBytes: bytes)) }
    }
}

/// A log message about the app's capabilities.
private struct CapabilityLog: LogType {
    let message: String

    init(_ finding: ScreenCapabilities.Finding) {
        let screen = finding.screen.isEmpty ? "" : " in \(finding.screen)"
        message = "\(finding.kind.rawValue) \(finding.name.debugDescription)\(screen)"
    }

    init(listBytes: Int) {
        message = """
            A server asked for the list of capabilities, which isn't sent, because it has \(listBytes) bytes, more than \
            \(ScreenCapabilities.maxListBytes); declare fewer names, or make the hash known to the server
            """
    }

    var category: String { "Capabilities" }
    var level: LogLevel { .warning }
}
