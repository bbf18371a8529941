import BeagleNet
import BeagleNetHTTP
import Foundation

/// The components of a screen, and the actions that they lead to.
struct ComponentTree {
    /// One component.
    struct Node {
        /// The type without the namespace `beagle`, such as `container` or `custom:chart`.
        var name: String
        /// The text, URL or layout that distinguishes this component from others of its type.
        var details: String
        /// The component's actions, such as `pushView /details prefetch`.
        var actions: [String]
        var isUnknown: Bool
        var children: [Node]
    }

    /// The number of components, links, images, forms and unknown components of a screen.
    struct Summary: Equatable {
        var components = 0
        var links = 0
        var images = 0
        var forms = 0
        var unknown = 0
    }

    let root: Node
    let summary: Summary

    /// Creates the tree of a screen.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` if the document isn't a component, or is nested too deep to draw.
    init(parsing document: Data) throws(NetworkError) {
        let screen = try ParsedScreen(outlining: document, vocabulary: ComponentNotes.vocabulary)
        guard screen.isScreen else {
            throw NetworkError(.decoding, during: .decode, "the document is not a component")
        }
        guard var builder = ComponentTreeBuilder(screen.outline) else {
            throw NetworkError(
                .decoding,
                during: .decode,
                "components are nested more than \(ComponentTreeBuilder.maxDepth) levels deep"
            )
        }
        root = builder.node(0)
        summary = builder.summary
    }

    /// The summary as text: `links 2 · images 1 · forms 0 · unknown 1`.
    var summaryLine: String {
        "links \(summary.links) · images \(summary.images) · forms \(summary.forms) · unknown \(summary.unknown)"
    }

    /// Draws the tree with lines, one component on each.
    ///
    /// - Parameter style: Styles a part of a line that is highlighted.
    func lines(style: (String, Style) -> String) -> [String] {
        var lines = [Self.text(root, width: root.name.count, style: style)]
        Self.draw(root.children, under: "", into: &lines, style: style)
        return lines
    }

    private static func draw(
        _ nodes: [Node],
        under prefix: String,
        into lines: inout [String],
        style: (String, Style) -> String
    ) {
        let width = nodes.map(\.name.count).max() ?? 0
        for (index, node) in nodes.enumerated() {
            let isLast = index == nodes.count - 1
            lines.append(prefix + (isLast ? "└─ " : "├─ ") + text(node, width: width, style: style))
            draw(node.children, under: prefix + (isLast ? "   " : "│  "), into: &lines, style: style)
        }
    }

    private static func text(_ node: Node, width: Int, style: (String, Style) -> String) -> String {
        var parts = [style(node.name, node.isUnknown ? .yellow : .bold)]
        if !node.details.isEmpty { parts.append(node.details) }
        parts += node.actions.map { style("→ \($0)", .cyan) }
        if node.isUnknown { parts.append(style("(unknown component)", .yellow)) }
        guard parts.count > 1 else { return parts[0] }
        parts[0] += String(repeating: " ", count: width - node.name.count)
        return parts.joined(separator: "  ")
    }

    /// The tree in the format of `--json`.
    var json: JSONValue {
        [
            "root": Self.json(root),
            "summary": [
                "components": .integer(Int64(summary.components)),
                "links": .integer(Int64(summary.links)),
                "images": .integer(Int64(summary.images)),
                "forms": .integer(Int64(summary.forms)),
                "unknown": .integer(Int64(summary.unknown)),
            ],
        ]
    }

    private static func json(_ node: Node) -> JSONValue {
        [
            "component": .string(node.name),
            "details": .string(node.details),
            "actions": .array(node.actions.map { .string($0) }),
            "known": .bool(!node.isUnknown),
            "children": .array(node.children.map(json)),
        ]
    }
}
