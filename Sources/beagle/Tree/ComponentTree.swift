import BeagleNetHTTP

/// The components of a screen, and where they lead.
struct ComponentTree {
    /// One component.
    struct Node {
        /// `container`, `custom:chart`: the type, without the namespace `beagle`.
        var name: String
        /// What tells this component from others of its type: a text, a URL, a layout.
        var details: String
        /// `pushView /details prefetch`: what it does.
        var actions: [String]
        var isUnknown: Bool
        var children: [Node]
    }

    /// How many of what a screen has.
    struct Summary: Equatable {
        var components = 0
        var links = 0
        var images = 0
        var forms = 0
        var unknown = 0
    }

    let root: Node
    let summary: Summary

    /// The tree of a screen; nil where the value is no component.
    init?(_ screen: JSONValue) {
        guard let type = ComponentType(of: screen) else { return nil }
        var walk = ComponentWalk()
        root = walk.node(screen, type)
        summary = walk.summary
    }

    /// `links 2 · images 1 · forms 0 · unknown 1`
    var summaryLine: String {
        "links \(summary.links) · images \(summary.images) · forms \(summary.forms) · unknown \(summary.unknown)"
    }

    /// The tree drawn with lines, a component a line.
    ///
    /// - Parameter style: is given each part of a line that stands out.
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

    /// The tree as the tool's `--json` shows it.
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
