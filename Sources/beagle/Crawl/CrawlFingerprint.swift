import BeagleNetHTTP
import Foundation

/// The identity of a finding, which stays the same in later crawls and on other hosts.
struct CrawlFingerprint: Sendable, Hashable {
    let rule: String
    /// The path and query of the screen.
    let screen: String
    let pointer: String
    /// The path and query of the target, or its URL if it is on another origin.
    let target: String

    /// - Parameter origin: The origin that was crawled.
    init(_ finding: CrawlFinding, on origin: Origin) {
        rule = finding.rule.rawValue
        screen = origin.path(of: finding.screen)
        pointer = finding.pointer
        target = origin.path(of: finding.target)
    }

    /// Reads a fingerprint, or returns `nil` if a member is missing.
    init?(_ json: JSONValue) {
        guard let rule = json["rule"]?.string, let screen = json["screen"]?.string,
            let pointer = json["pointer"]?.string, let target = json["target"]?.string
        else { return nil }
        (self.rule, self.screen, self.pointer, self.target) = (rule, screen, pointer, target)
    }

    var json: JSONValue {
        ["rule": .string(rule), "screen": .string(screen), "pointer": .string(pointer), "target": .string(target)]
    }
}

extension Origin {
    /// Returns the path and query of a URL if it is on this origin, and the URL otherwise.
    func path(of url: String) -> String {
        guard let parsed = URL(string: url), Origin(parsed) == self, let mark = url.firstRange(of: "://") else {
            return url
        }
        let rest = url[mark.upperBound...].drop { $0 != "/" && $0 != "?" && $0 != "#" }
        return rest.first == "/" ? String(rest) : "/\(rest)"
    }
}
