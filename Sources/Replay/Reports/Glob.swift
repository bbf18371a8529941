#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A pattern for text, in which `*` matches any text, `?` any character, and a backslash escapes the next character.
///
/// It ignores the case of ASCII letters. A pattern without wildcards matches if it is a part of the text. The time is
/// at most proportional to the product of the two lengths.
struct Glob: Sendable, Hashable {
    private enum Element: Sendable, Hashable {
        case byte(UInt8), character, text
    }

    private var elements: [Element] = []

    /// Creates a pattern.
    ///
    /// - Parameter isAnywhere: whether a pattern with wildcards may also match a part of the text.
    init(_ pattern: String, isAnywhere: Bool = false) {
        var bytes = pattern.utf8[...]
        while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "*"): elements.append(.text)
            case UInt8(ascii: "?"): elements.append(.character)
            case UInt8(ascii: "\\"): elements.append(.byte((bytes.popFirst() ?? byte).lowercased))
            default: elements.append(.byte(byte.lowercased))
            }
        }
        let hasWildcards = elements.contains(.text) || elements.contains(.character)
        if isAnywhere || !hasWildcards { elements = [.text] + elements + [.text] }
    }

    func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8(matches)
    }

    func matches(_ data: Data) -> Bool {
        data.withUnsafeBytes { bytes in bytes.withMemoryRebound(to: UInt8.self, matches) }
    }

    /// Matches without recursion: after a mismatch, only the last `*` has to be extended.
    private func matches(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var (place, element) = (0, 0)
        var retry: (place: Int, element: Int)?
        while place < bytes.count {
            if element < elements.count, elements[element] == .text {
                element += 1
                if element == elements.count { return true }
                retry = (place, element)
            } else if element < elements.count, let length = length(of: elements[element], bytes, place) {
                place += length
                element += 1
            } else if let last = retry {
                (place, element) = (last.place + 1, last.element)
                retry = (place, element)
            } else {
                return false
            }
        }
        return elements[element...].allSatisfy { $0 == .text }
    }

    /// Returns the number of bytes that an element matches at a position; `nil` if it doesn't match.
    private func length(of element: Element, _ bytes: UnsafeBufferPointer<UInt8>, _ place: Int) -> Int? {
        if case .byte(let byte) = element { return bytes[place].lowercased == byte ? 1 : nil }
        guard !bytes[place].isContinuation else { return nil }
        return bytes[(place + 1)...].prefix { $0.isContinuation }.count + 1
    }
}

extension UInt8 {
    fileprivate var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
    /// Whether the byte continues a UTF-8 character.
    fileprivate var isContinuation: Bool { self & 0xC0 == 0x80 }
}
