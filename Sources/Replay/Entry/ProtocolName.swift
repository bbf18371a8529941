/// The names of HTTP versions.
package enum ProtocolName {
    /// Returns the standard name for a spelling found in archives; returns an unknown text unchanged.
    package static func standard(_ text: String) -> String {
        // The most common spellings.
        if text == "HTTP/1.1" || text == "HTTP/2" { return text }
        let name = text.lowercased()
        switch name.hasPrefix("http/") ? name.dropFirst(5) : name[...] {
        case "1.0": return "HTTP/1.0"
        case "1.1": return "HTTP/1.1"
        case "2", "2.0", "h2", "h2c": return "HTTP/2"
        case "3", "3.0", "h3": return "HTTP/3"
        default: return text
        }
    }
}
