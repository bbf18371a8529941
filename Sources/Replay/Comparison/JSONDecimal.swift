/// A JSON number that is compared by value, exact to the last digit: `1`, `1.0` and `10e-1` are equal.
enum JSONDecimal: Hashable {
    /// The digits without leading and trailing zeros, and the power of ten of the last digit.
    case decimal(isNegative: Bool, digits: [UInt8], exponent: Int)
    /// The text of a number whose exponent is out of range.
    case written(String)

    /// Parses a number (RFC 8259).
    init(_ text: String) {
        let parts = text.utf8.split(maxSplits: 1) { $0 | 0x20 == UInt8(ascii: "e") }
        guard let mantissa = parts.first, let power = parts.count == 1 ? 0 : Int(String(Substring(parts[1]))),
            (-1 << 60...1 << 60).contains(power)
        else {
            self = .written(text.lowercased())
            return
        }
        let point = mantissa.firstIndex(of: UInt8(ascii: "."))
        let fraction = point.map { mantissa.distance(from: $0, to: mantissa.endIndex) - 1 } ?? 0
        let digits = mantissa.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let significant = digits.drop { $0 == UInt8(ascii: "0") }
        let end = significant.lastIndex { $0 != UInt8(ascii: "0") }.map { $0 + 1 } ?? significant.startIndex
        guard end > significant.startIndex else {
            self = .decimal(isNegative: false, digits: [], exponent: 0)
            return
        }
        self = .decimal(
            isNegative: mantissa.first == UInt8(ascii: "-"),
            digits: Array(significant[..<end]),
            exponent: power - fraction + significant.endIndex - end
        )
    }
}
