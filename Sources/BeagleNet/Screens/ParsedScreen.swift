public import BeagleNetHTTP

/// A screen whose JSON has been checked, with the plan of what it needs from the network.
///
/// Parsing reads the document once and makes neither a tree nor a list of its values. A parsed screen and its plan share
/// the bytes of the document.
///
/// ```swift
/// let screen = try ParsedScreen(parsing: response.data)
/// for image in screen.plan.references where image.kind == .image && image.isPrefetchable {
///     print(image.resolvedURL ?? image.url)
/// }
/// ```
public struct ParsedScreen: Sendable {
    /// The maximum size of a document, in bytes: 10 MiB.
    public static let maxBytes = 10 << 20

    /// The document as it was given.
    public let document: Data
    /// The type of the outermost object as the document spells it, such as `beagle:screenComponent`, or `nil` if it is
    /// neither a component nor an action.
    public let type: String?
    /// The `id`, or else the `identifier`, of the outermost component or action, or `nil` if it has none.
    public let id: String?
    /// Whether the outermost value is a component, as in screens and lazy components. The response to a form may be an
    /// action instead.
    public let isScreen: Bool
    /// The references of the screen to the network.
    public let plan: ScreenPlan
    /// The components and actions, if they were asked for.
    package let outline: ScreenOutline
    /// The contexts that an action changes.
    package let changedContexts: Set<String>

    /// Checks a document and finds its references.
    ///
    /// JSON that isn't a screen is parsed, too: see `isScreen`. Containers may be nested 100,000 levels deep.
    ///
    /// - Parameters:
    ///   - document: JSON (RFC 8259) in UTF-8. A byte order mark is ignored.
    ///   - vocabulary: The names of the framework and the app. The default understands Beagle and Nimbus.
    ///   - maxReferences: The maximum number of references in the plan, at least 0 and 10,000 by default.
    ///     `ScreenPlan.omittedCount` says how many were left out.
    /// - Throws: `NetworkError` of kind `.decoding` with the line, column and path of the first error, or of kind
    ///   `.tooLarge` if the document is larger than `maxBytes`.
    public init(
        parsing document: Data,
        vocabulary: ScreenVocabulary = .standard,
        maxReferences: Int = 10_000
    ) throws(NetworkError) {
        try self.init(document, vocabulary, maxReferences, recordsOutline: false)
    }

    /// Checks a document and finds its references, components and actions.
    package init(outlining document: Data, vocabulary: ScreenVocabulary) throws(NetworkError) {
        try self.init(document, vocabulary, 0, recordsOutline: true)
    }

    private init(
        _ document: Data,
        _ vocabulary: ScreenVocabulary,
        _ maxReferences: Int,
        recordsOutline: Bool
    ) throws(NetworkError) {
        guard document.count <= Self.maxBytes else {
            throw NetworkError(
                .tooLarge,
                during: .decode,
                "the screen has \(document.count) bytes, more than the \(Self.maxBytes) that are allowed",
                advice: "divide the screen, for example with lazy components"
            )
        }
        let limit = max(0, maxReferences)
        let result = document.withBytes { bytes in
            Result { () throws(NetworkError) in
                try Self.read(bytes, vocabulary.table, limit, recordsOutline)
            }
        }
        let reading = try result.get()
        self.document = document
        type = reading.type
        id = reading.id
        isScreen = reading.isScreen
        outline = reading.outline
        changedContexts = reading.changedContexts
        plan = ScreenPlan(reading.contents(document))
    }

    /// The results of a walk that don't depend on the pointer to the bytes.
    private struct Reading {
        let type: String?
        let id: String?
        let isScreen: Bool
        let outline: ScreenOutline
        let changedContexts: Set<String>
        let contents: (Data) -> ScreenPlanContents
    }

    private static func read(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ table: ScreenTable,
        _ limit: Int,
        _ recordsOutline: Bool
    ) throws(NetworkError) -> Reading {
        do throws(JSONFault) {
            let findings = try ScreenWalk.findings(in: bytes, table, limit: limit, recordsOutline: recordsOutline)
            var resolver = ScreenResolver(findings, bytes, limit: limit)
            resolver.run()
            let (resolved, texts, omitted) = (resolver.resolved, resolver.texts, resolver.omitted)
            return Reading(
                type: findings.rootForm == nil ? nil : findings.rootType.text(in: bytes),
                id: findings.rootForm != nil && findings.rootID.isPresent ? findings.rootID.text(in: bytes) : nil,
                isScreen: findings.rootForm == .component,
                outline: findings.outline,
                changedContexts: resolver.changedContexts,
                contents: { ScreenPlanContents($0, findings, resolved, texts, omitted) }
            )
        } catch {
            throw error.screenError(in: bytes)
        }
    }
}

extension Data {
    /// Calls a function with the bytes. The pointer is valid only during the call.
    func withBytes<R>(_ look: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        withUnsafeBytes { look($0.bindMemory(to: UInt8.self)) }
    }
}
