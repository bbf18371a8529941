/// The syntax of e-mail addresses in HTML (HTML Standard, 4.10.5.1.5, "valid e-mail address").
enum EmailAddress {
    /// The maximum length of a label of a host name (RFC 1034, 3.1).
    private static let maxLabelLength = 63

    /// Returns whether a text is one address: a local part in the characters of `atext` and dots, an `@`, and labels of
    /// letters, digits and inner hyphens, separated by dots.
    static func isValid(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "@")), mark > 0 else { return false }
        guard bytes[..<mark].allSatisfy(\.isLocalPart) else { return false }
        let labels = bytes[(mark + 1)...].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.allSatisfy(isLabel)
    }

    private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
        guard let first = label.first, let last = label.last, label.count <= maxLabelLength else { return false }
        return first.isLetterOrDigit && last.isLetterOrDigit
            && label.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool { self &- 0x30 < 10 || (self | 0x20) &- 0x61 < 26 }

    fileprivate var isLocalPart: Bool { isLetterOrDigit || ".!#$%&'*+/=?^_`{|}~-".utf8.contains(self) }
}
