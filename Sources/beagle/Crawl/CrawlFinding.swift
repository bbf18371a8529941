/// A fault of a screen, or a fact about it that is worth knowing.
struct CrawlFinding: Sendable {
    let rule: CrawlRule
    let severity: CrawlSeverity
    /// The URL of the screen, without secrets.
    let screen: String
    /// The position in the screen, as a JSON pointer; empty for the screen itself.
    let pointer: String
    /// The URL of the target, without secrets, or the text in the screen if it can't be resolved.
    let target: String
    let message: String
    let advice: String?

    /// The message and the advice.
    var sentence: String { [message, advice].compactMap(\.self).joined(separator: "; ") }
}

/// The importance of a finding.
enum CrawlSeverity: String, Sendable, CaseIterable {
    case error, warning, info
}
