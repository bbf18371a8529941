#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Unique secrets, and a search that finds them in any encoding.
enum Canary {
    private static let mark = "c4n4ryq"

    /// A secret of letters and digits.
    static func secret(_ number: Int) -> String { "\(mark)\(1_000 + number)" }

    /// Text in which every character is percent-encoded.
    static func percentEncoded(_ text: String) -> String { text.utf8.map { "%\(hex($0))" }.joined() }

    /// Text in which every character is a JSON escape.
    static func escaped(_ text: String) -> String { text.utf8.map { "\\u00\(hex($0))" }.joined() }

    /// The encodings in which these bytes contain a secret.
    static func forms(in data: Data) -> [String] {
        forms.filter { data.firstRange(of: Data($0.bytes.utf8)) != nil }.map(\.name)
    }

    private static let forms: [(name: String, bytes: String)] =
        [
            ("as it is", mark), ("in upper case", mark.uppercased()), ("in hexadecimal", mark.utf8.map(hex).joined()),
            ("percent-encoded", percentEncoded(mark)),
            ("percent-encoded in capitals", percentEncoded(mark).uppercased()),
            ("escaped", escaped(mark)), ("escaped twice", escaped(mark).replacing("\\", with: "\\\\")),
        ] + (0..<3).map { ("in base64 behind \($0)", base64(behind: $0)) }

    /// The base64 digits (RFC 4648, 4) of the mark that don't depend on the bytes around it.
    private static func base64(behind count: Int) -> String {
        let text = (Data(repeating: 0, count: count) + Data(mark.utf8)).base64EncodedString()
        let whole = (count + mark.utf8.count) * 8 / 6
        return String(text.prefix(whole).dropFirst((count * 8 + 5) / 6))
    }

    private static func hex(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.utf8.count == 1 ? "0\(digits)" : digits
    }
}
