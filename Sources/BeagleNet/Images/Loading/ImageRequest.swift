public import BeagleNetHTTP

/// A request for an image through an `ImageLoader`.
public struct ImageRequest: Sendable {
    /// The path or URL of the image, or a `data:` URL (RFC 2397).
    public var target: any Request.Target
    /// The images to load in this order if the one before can't be loaded or isn't an image; none by default.
    public var fallbacks: [any Request.Target]
    /// The header fields of the request.
    public var headers: [String: String] = [:]
    /// The initial priority; `.normal` by default.
    public var priority: Priority
    /// Whether a stored image is used; `nil`, the default, for the container's policy or `cacheFirst`.
    public var policy: RequestPolicy?
    /// The user for whom the image is loaded, as in `NetworkOperation.partition`; empty by default.
    public var partition = ""
    /// Whether `ImageTask.events` has snapshots of the image while it arrives, for progressive formats; no by default.
    public var wantsSnapshots = false

    /// Describes an image.
    ///
    /// - Parameters:
    ///   - target: The path or URL of the image, or a `data:` URL.
    ///   - fallbacks: The images to load if it can't be loaded; none by default.
    ///   - priority: The initial priority; `.normal` by default.
    public init(
        _ target: any Request.Target,
        fallbacks: [any Request.Target] = [],
        priority: Priority = .normal
    ) {
        self.target = target
        self.fallbacks = fallbacks
        self.priority = priority
    }
}
