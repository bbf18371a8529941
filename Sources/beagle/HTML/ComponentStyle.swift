import BeagleNetHTTP

/// The style of a component as CSS declarations.
///
/// Numbers, known keywords and colors are the only values that are taken from a screen, so that it can't add
/// declarations of its own.
struct ComponentStyle {
    private(set) var declarations: [String] = []

    /// The declarations for a `style` attribute.
    var css: String { declarations.joined(separator: ";") }

    /// - Parameter component: The component whose `style` is read.
    init(of component: JSONValue) {
        guard let style = component["style"] else { return }
        add("background-color", Self.color(style["backgroundColor"]))
        add("border-color", Self.color(style["borderColor"]))
        if let width = Self.pixels(style["borderWidth"]) {
            declarations += ["border-style:solid", "border-width:\(width)"]
        }
        addCorners(style["cornerRadius"])
        addSize(style["size"])
        addEdges("margin", style["margin"])
        addEdges("padding", style["padding"])
        add("position", Self.keyword(style["positionType"], ["relative", "absolute"]))
        addPosition(style["position"])
        if style["display"]?.string?.uppercased() == "NONE" { add("display", "none") }
        addFlex(style["flex"])
    }

    /// Adds a declaration, if it has a value.
    mutating func add(_ name: String, _ value: String?) {
        if let value { declarations.append("\(name):\(value)") }
    }

    // MARK: - Groups

    private mutating func addCorners(_ corners: JSONValue?) {
        add("border-radius", Self.pixels(corners?["radius"]))
        for (name, corner) in [
            ("topLeft", "top-left"), ("topRight", "top-right"), ("bottomLeft", "bottom-left"),
            ("bottomRight", "bottom-right"),
        ] {
            add("border-\(corner)-radius", Self.pixels(corners?[name]))
        }
    }

    private mutating func addSize(_ size: JSONValue?) {
        for (name, property) in [
            ("width", "width"), ("height", "height"), ("minWidth", "min-width"), ("minHeight", "min-height"),
            ("maxWidth", "max-width"), ("maxHeight", "max-height"),
        ] {
            add(property, Self.length(size?[name]))
        }
        add("aspect-ratio", Self.number(size?["aspectRatio"]))
    }

    /// The general edges come first, because later declarations replace them.
    private mutating func addEdges(_ property: String, _ edges: JSONValue?) {
        add(property, Self.length(edges?["all"]))
        for (name, sides) in [
            ("horizontal", ["left", "right"]), ("vertical", ["top", "bottom"]), ("start", ["inline-start"]),
            ("end", ["inline-end"]), ("left", ["left"]), ("right", ["right"]), ("top", ["top"]), ("bottom", ["bottom"]),
        ] {
            for side in sides { add("\(property)-\(side)", Self.length(edges?[name])) }
        }
    }

    private mutating func addPosition(_ position: JSONValue?) {
        add("inset", Self.length(position?["all"]))
        for (name, properties) in [
            ("horizontal", ["left", "right"]), ("vertical", ["top", "bottom"]), ("start", ["inset-inline-start"]),
            ("end", ["inset-inline-end"]), ("left", ["left"]), ("right", ["right"]), ("top", ["top"]),
            ("bottom", ["bottom"]),
        ] {
            for property in properties { add(property, Self.length(position?[name])) }
        }
    }

    private mutating func addFlex(_ flex: JSONValue?) {
        add("flex-direction", Self.keyword(flex?["flexDirection"], ["row", "column", "row-reverse", "column-reverse"]))
        let wrap = Self.keyword(flex?["flexWrap"], ["no-wrap", "wrap", "wrap-reverse"])
        add("flex-wrap", wrap == "no-wrap" ? "nowrap" : wrap)
        add("justify-content", Self.keyword(flex?["justifyContent"], Self.distributions))
        add("align-items", Self.keyword(flex?["alignItems"], Self.alignments))
        add("align-content", Self.keyword(flex?["alignContent"], Self.distributions.union(["stretch"])))
        add("align-self", Self.keyword(flex?["alignSelf"], Self.alignments.union(["auto"])))
        add("flex", Self.number(flex?["flex"]))
        add("flex-grow", Self.number(flex?["grow"]))
        add("flex-shrink", Self.number(flex?["shrink"]))
        add("flex-basis", Self.length(flex?["basis"]))
    }

    private static let distributions: Set = [
        "flex-start", "center", "flex-end", "space-between", "space-around", "space-evenly",
    ]
    private static let alignments: Set = ["flex-start", "center", "flex-end", "baseline", "stretch"]

    // MARK: - Values

    /// Returns a keyword such as `SPACE_BETWEEN` in the spelling of CSS, or `nil` if it isn't allowed.
    static func keyword(_ value: JSONValue?, _ allowed: Set<String>) -> String? {
        guard let word = value?.string?.lowercased().replacing("_", with: "-"), allowed.contains(word) else {
            return nil
        }
        return word
    }

    /// Returns a color of 3, 4, 6 or 8 hexadecimal digits.
    static func color(_ value: JSONValue?) -> String? {
        guard let text = value?.string, text.first == "#", [3, 4, 6, 8].contains(text.dropFirst().utf8.count),
            text.dropFirst().utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit })
        else { return nil }
        return text
    }

    /// Returns a length such as `16px`, `50%` or `auto` of a value with a unit.
    private static func length(_ value: JSONValue?) -> String? {
        switch value?["type"]?.string?.uppercased() {
        case "AUTO": "auto"
        case "PERCENT": number(value?["value"]).map { "\($0)%" }
        default: pixels(value?["value"] ?? value)
        }
    }

    private static func pixels(_ value: JSONValue?) -> String? { number(value).map { "\($0)px" } }

    private static func number(_ value: JSONValue?) -> String? {
        guard let number = value?.number, number.magnitude < 1e6 else { return nil }
        return number == number.rounded() ? "\(Int(number))" : "\(number)"
    }
}
