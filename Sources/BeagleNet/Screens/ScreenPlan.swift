import BeagleNetHTTP

/// The references of a screen to the network: what it needs, when, and whether that can be prefetched.
///
/// The references are in the order of the document, which is also the order in which images are best loaded. Templates
/// of lists whose items the screen contains are there once for each item.
public struct ScreenPlan: Sendable {
    /// The references, in the order of the document.
    public let references: [Reference]
    /// The number of references that were left out because there were more than `maxReferences`. For the elements of a
    /// list, this is an estimate.
    public let omittedCount: Int

    /// Whether references were left out.
    public var isTruncated: Bool { omittedCount > 0 }

    init(_ contents: ScreenPlanContents) {
        references = contents.resolved.indices.map { Reference(contents: contents, index: $0) }
        omittedCount = contents.omitted
    }
}

/// The data that all references of a plan share.
final class ScreenPlanContents: Sendable {
    let document: Data
    let records: ContiguousArray<ScreenRecord>
    let parts: ContiguousArray<ScreenRequestParts>
    let paths: ScreenPaths
    let forms: [Range<Int>]
    let inputs: [JSONSpan]
    let resolved: ContiguousArray<ScreenResolver.Resolved>
    let texts: [String]
    let omitted: Int

    init(
        _ document: Data,
        _ findings: ScreenFindings,
        _ resolved: ContiguousArray<ScreenResolver.Resolved>,
        _ texts: [String],
        _ omitted: Int
    ) {
        self.document = document
        records = findings.records
        parts = findings.parts
        paths = findings.paths
        forms = findings.forms
        inputs = findings.inputs
        self.resolved = resolved
        self.texts = texts
        self.omitted = omitted
    }

    /// Returns the text of a string, or `nil` if the document doesn't have it.
    func text(_ span: JSONSpan) -> String? {
        span.isPresent ? document.withBytes { span.text(in: $0) } : nil
    }
}
