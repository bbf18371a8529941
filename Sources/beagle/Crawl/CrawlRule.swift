/// A rule of a crawl.
enum CrawlRule: String, Sendable, CaseIterable {
    case broken, slow, heavy, unevaluable, unknown, cyclic, method, omitted, unrequested
    case mixedContent = "mixed-content"
    case otherOrigin = "other-origin"

    /// The description of the rule.
    var summary: String {
        switch self {
        case .broken: "A screen, lazy component or image cannot be loaded."
        case .slow: "A response takes too long."
        case .heavy: "A screen or image is too large."
        case .unevaluable: "The URL has an expression whose value the screen does not contain."
        case .unknown: "A URL is in a member whose meaning is not declared."
        case .cyclic: "A route leads back to a screen, or a lazy component loads itself."
        case .method: "The method or body does not suit the reference."
        case .omitted: "A screen has too many references to check all of them."
        case .unrequested: "The crawl has more targets than it may request."
        case .mixedContent: "A screen that is loaded over https refers to an http URL."
        case .otherOrigin: "The target is on another origin, which is not checked."
        }
    }

    /// The severity of most findings of this rule.
    var severity: CrawlSeverity {
        switch self {
        case .broken: .error
        case .cyclic, .otherOrigin: .info
        default: .warning
        }
    }
}
