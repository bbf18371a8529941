/// The limits above which a response is a finding.
struct CrawlLimits: Sendable {
    var slow = Duration.seconds(1)
    /// The maximum size of an image, in bytes.
    var heavyImage = 1_000_000
    /// The maximum size of a screen or lazy component, in bytes.
    var heavyScreen = 100_000
}
