public import BeagleNetDependencies
public import BeagleNetHTTP

/// The components and actions that an app can show and run, so that a server sends no others.
///
/// ```swift
/// dependencies.screenCapabilities = try ScreenCapabilities(
///     components: ["beagle:text", .init("custom:avatar", version: "2")],
///     actions: ["beagle:pushView"]
/// )
/// ```
///
/// The convention is this library's own; there is no standard.
///
/// - Each request for a screen (`Request.RequestType.fetchComponent`) to a declared origin has the field
///   `Beagle-Capabilities: sha-256=:BASE64:`, a structured dictionary as in `Content-Digest` (RFC 9530). Origins are
///   declared by `HttpRequestBuilder.origins` and the base URL; without them, nothing is sent. The hash isn't truncated,
///   so that a server can compute it from the list with any tool; HTTP/2 compresses repeated fields.
/// - A server that doesn't know the hash responds with the status 428 (RFC 6585, 3) and the field
///   `Beagle-Capability-List: ?1`. The request is then repeated once, with the list in the field
///   `Beagle-Capability-List`. If the origin asks for the list again when it has it, the status 428 is the result, and
///   the list isn't sent to that origin again.
/// - The list is a structured dictionary (RFC 9651), whose bytes are hashed: `components=("beagle:text"
///   "custom:avatar";v="2"), actions=("beagle:pushView")`. The names are sorted by their bytes.
///
/// Neither field is sent to other origins or after a redirect to another origin. Stored, shared and prefetched screens are
/// used only with the same hash.
///
/// `ViewClient` compares each screen with the list, and reports components and actions that aren't on it.
public struct ScreenCapabilities: Sendable {
    /// The name of a component or an action, with an optional version.
    public struct Name: Sendable, Hashable, ExpressibleByStringLiteral {
        /// The type as screens have it, such as `beagle:text`.
        public let name: String
        /// The version, in the app's own notation; `nil` if the app has only one.
        public let version: String?

        /// Creates a name.
        public init(_ name: String, version: String? = nil) {
            self.name = name
            self.version = version
        }

        /// Creates a name without a version.
        public init(stringLiteral name: String) { self.init(name) }
    }

    /// The maximum size of the list in a request, in bytes: 8 KiB, as many servers limit a field to that.
    ///
    /// A longer list isn't sent, only its hash: the status 428 is then the result, and the log gives the reason.
    public static let maxListBytes = 8 << 10
    /// The maximum number of names.
    public static let maxNames = 10_000
    /// The maximum size of a name or version, in bytes.
    public static let maxNameBytes = 128

    /// The components, sorted.
    public let components: [Name]
    /// The actions, sorted.
    public let actions: [Name]
    /// The value of the field `Beagle-Capabilities`.
    public let hash: String
    /// The vocabulary by which the components and actions of a screen are found.
    public let vocabulary: ScreenVocabulary
    /// The value of the field `Beagle-Capability-List`.
    let list: String
    let record: CapabilityRecord
    private let knownComponents: Set<String>
    private let knownActions: Set<String>

    /// Declares components and actions.
    ///
    /// - Parameters:
    ///   - components: The components that the app has registered, also those of the framework.
    ///   - actions: The actions that the app has registered, also those of the framework.
    ///   - vocabulary: The names of the framework and the app. The default understands Beagle and Nimbus.
    ///   - onFinding: Called once for each kind and name of a finding, on any thread; at most 1,000 times. The log has
    ///     them too.
    /// - Throws: `NetworkError` of kind `.badConfiguration` if there are more than `maxNames` names, or if a name or
    ///   version is empty, longer than `maxNameBytes`, or has other characters than printable ASCII; another error if
    ///   the system has no SHA-256.
    public init(
        components: [Name],
        actions: [Name],
        vocabulary: ScreenVocabulary = .standard,
        onFinding: @escaping @Sendable (Finding) -> Void = { _ in }
    ) throws(NetworkError) {
        guard components.count + actions.count <= Self.maxNames else {
            throw .badCapabilities("more than \(Self.maxNames) names", "declare only those that screens can have")
        }
        self.components = try Self.sorted(components)
        self.actions = try Self.sorted(actions)
        list = "components=\(Self.innerList(self.components)), actions=\(Self.innerList(self.actions))"
        let digest = Data(try SHA256Digest.bytes(of: Data(list.utf8)))
        hash = "sha-256=:\(digest.base64EncodedString()):"
        knownComponents = Set(components.map { $0.name.lowercased() })
        knownActions = Set(actions.map { $0.name.lowercased() })
        self.vocabulary = vocabulary
        record = CapabilityRecord(onFinding)
    }

    /// Whether the app has a component or an action. As in Beagle, upper and lower case are the same.
    func contains(_ element: ScreenOutline.Element) -> Bool {
        (element.isAction ? knownActions : knownComponents).contains(element.type.lowercased())
    }

    private static func sorted(_ names: [Name]) throws(NetworkError) -> [Name] {
        for name in names {
            for text in [name.name, name.version].compactMap(\.self) where !isValid(text) {
                throw .badCapabilities(
                    "the name or version \(String(text.prefix(maxNameBytes)).debugDescription)",
                    "use 1 to \(maxNameBytes) printable ASCII characters"
                )
            }
        }
        return Set(names).sorted { item($0).utf8.lexicographicallyPrecedes(item($1).utf8) }
    }

    private static func isValid(_ text: String) -> Bool {
        (1...maxNameBytes).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// An inner list of strings (RFC 9651, 3.1.1).
    private static func innerList(_ names: [Name]) -> String {
        "(" + names.map(item).joined(separator: " ") + ")"
    }

    private static func item(_ name: Name) -> String {
        quoted(name.name) + (name.version.map { ";v=" + quoted($0) } ?? "")
    }

    /// A string (RFC 9651, 3.3.3).
    private static func quoted(_ text: String) -> String {
        #"""# + text.replacing(#"\"#, with: #"\\"#).replacing(#"""#, with: #"\""#) + #"""#
    }
}

extension BeagleDependencies {
    /// The components and actions that each request for a screen declares; `nil`, the default, sends nothing.
    public var screenCapabilities: ScreenCapabilities? {
        get { self[ScreenCapabilitiesKey.self] }
        set { self[ScreenCapabilitiesKey.self] = newValue }
    }
}

enum ScreenCapabilitiesKey: DependencyDefault {
    static func live(_ dependencies: BeagleDependencies) -> ScreenCapabilities? { nil }
}

extension NetworkError {
    fileprivate static func badCapabilities(_ problem: String, _ advice: String) -> NetworkError {
        NetworkError(
            .badConfiguration,
            during: .build,
            "the capabilities can't be declared, because of \(problem)",
            advice: advice
        )
    }
}
