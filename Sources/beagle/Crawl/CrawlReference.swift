import BeagleNet
import BeagleNetHTTP
import BeagleNetRequestBuilder
import Foundation

/// A reference of a crawled screen to the network.
struct CrawlReference: Sendable {
    /// The use that the crawl makes of a reference.
    enum Use: Sendable {
        /// The target is requested.
        case followed(CrawlTarget)
        /// The target is on the same origin, but isn't a screen or needs the user's input.
        case ignored
        /// The target is on another origin, which the crawl never contacts.
        case otherOrigin(Origin)
        /// The screen doesn't contain the value of an expression in the URL, method or header fields.
        case unevaluable(isTemplate: Bool)
        /// The URL or its header fields can't be sent.
        case invalid(NetworkError)
        /// The meaning of the member isn't in the vocabulary.
        case unknown
        /// The method may have side effects.
        case unsafe
    }

    let pointer: String
    let kind: ScreenPlan.Reference.Kind
    let method: String
    let hasBody: Bool
    /// The target's URL, or the URL as the screen has it if that can't be resolved.
    let url: String
    let use: Use

    /// - Parameters:
    ///   - base: The base URL of paths.
    ///   - origin: The origin that is crawled.
    init(_ reference: ScreenPlan.Reference, base: URL, origin: Origin) {
        pointer = reference.pointer
        kind = reference.kind
        method = reference.method
        hasBody = reference.body != nil
        var url = reference.bestURL
        use = Self.use(of: reference, base, origin, &url)
        self.url = url
    }

    private static func use(
        of reference: ScreenPlan.Reference,
        _ base: URL,
        _ origin: Origin,
        _ shown: inout String
    ) -> Use {
        if reference.obstacle == .otherScheme { return .ignored }
        guard let text = reference.resolvedURL, reference.obstacle != .unresolvedExpression else {
            return .unevaluable(isTemplate: reference.obstacle == .template)
        }
        do throws(NetworkError) {
            let url = try UrlBuilder(baseUrl: base).url(for: text)
            shown = url.absoluteString
            if reference.kind == .unknown { return .unknown }
            guard let target = Origin(url) else {
                // Other schemes, such as data, need no request.
                if url.scheme != nil { return .ignored }
                throw NetworkError(.badURL, during: .build, "\(text) has no scheme", advice: "write /\(text)")
            }
            if target != origin { return .otherOrigin(target) }
            guard followedKinds.contains(reference.kind) else { return .ignored }
            guard ["GET", "HEAD", ""].contains(reference.method) else {
                return reference.kind == .form ? .ignored : .unsafe
            }
            // A request with a body would be another request without it.
            guard reference.method != "HEAD", reference.body == nil, reference.fields.isEmpty else { return .ignored }
            let kind: CrawlTarget.Kind =
                reference.kind == .image ? .image : reference.kind == .form ? .form : .screen
            return .followed(CrawlTarget(url, kind, headers: reference.headerFields))
        } catch {
            return reference.kind == .unknown ? .unknown : .invalid(error)
        }
    }

    private static let followedKinds: Set<ScreenPlan.Reference.Kind> = [.image, .route, .lazy, .form]

    /// The target, if it is requested.
    var target: CrawlTarget? {
        if case .followed(let target) = use { return target }
        return nil
    }

    /// Whether the app shows the target as a screen, as a part of one, or as an image.
    var isLoaded: Bool { kind == .image || kind == .route || kind == .lazy }

    /// Whether following the reference needs another action of the user.
    var isStep: Bool { kind == .route || kind == .form }
}
