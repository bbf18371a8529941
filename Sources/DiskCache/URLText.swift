import BeagleNetCache
import BeagleNetHTTP
import Foundation

/// The parts of a URL's text that may stand in plain text, and the others.
enum URLText {
    /// The URL without user, query and fragment, and its query and fragment.
    static func parts(of url: String) -> (place: String, rest: Substring) {
        let rest = rest(of: url)
        let place = url[..<rest.startIndex]
        let scheme = place.range(of: "://")
        let start = scheme?.upperBound ?? place.startIndex
        let end = place[start...].firstIndex(of: "/") ?? place.endIndex
        guard let at = place[start..<end].lastIndex(of: "@") else { return (String(place), rest) }
        return (String(place[..<start]) + String(place[place.index(after: at)...]), rest)
    }

    /// The query and the fragment with the characters before them.
    static func rest(of text: String) -> Substring {
        let start = text.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        return text[(start ?? text.endIndex)...]
    }
}
