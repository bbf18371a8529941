import BeagleNetReplay

/// Writes HTML, in which all texts and values of attributes are escaped.
struct HTMLWriter {
    private(set) var text = ""

    /// Writes an element with a text.
    mutating func element(_ name: String, text contents: String, class type: String = "") {
        open(name, ["class": type])
        write(contents)
        close(name)
    }

    /// Writes a text.
    mutating func write(_ contents: String) { text += contents.xml }

    /// Writes the start of an element, which is all of an element without contents, such as `img`.
    ///
    /// - Parameters:
    ///   - name: The name of the element, which is never from a server.
    ///   - attributes: The attributes; those with an empty value are left out.
    mutating func open(_ name: String, _ attributes: KeyValuePairs<String, String> = [:]) {
        text += "<\(name)"
        for (name, value) in attributes where !value.isEmpty { text += " \(name)=\"\(value.xml)\"" }
        text += ">"
    }

    /// Writes the end of an element.
    mutating func close(_ name: String) { text += "</\(name)>" }
}
