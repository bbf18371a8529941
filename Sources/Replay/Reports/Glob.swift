#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A pattern of text: `*` is any text, `?` any character, a backslash makes the next character plain. ASCII letters match
/// in either case.
///
/// A pattern without `*` and `?` matches where it is a part of the text. Time grows with the product of the two lengths at
/// most.
struct Glob: Sendable, Hashable {
    private enum Element: Sendable, Hashable {
        case byte(UInt8), character, text
    }

    private var elements: [Element] = []

    /// - Parameter isAnywhere: whether it matches a part of the text although it has a `*` or `?`.
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

    /// What follows the last `*` that was met is tried at each place in turn; those before it need no other try.
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

    /// How many bytes at a place an element stands for; nil where they are others.
    private func length(of element: Element, _ bytes: UnsafeBufferPointer<UInt8>, _ place: Int) -> Int? {
        if case .byte(let byte) = element { return bytes[place].lowercased == byte ? 1 : nil }
        guard !bytes[place].isContinuation else { return nil }
        return bytes[(place + 1)...].prefix { $0.isContinuation }.count + 1
    }
}

extension UInt8 {
    fileprivate var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
    /// Whether it goes on with a character of UTF-8.
    fileprivate var isContinuation: Bool { self & 0xC0 == 0x80 }
}
