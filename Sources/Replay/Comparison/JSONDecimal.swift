/// A number of JSON by its value, exact to the last digit: `1`, `1.0` and `10e-1` are one.
enum JSONDecimal: Hashable {
    /// Digits without zeros at either end, and the power of ten of the last.
    case decimal(isNegative: Bool, digits: [UInt8], exponent: Int)
    /// One whose exponent is no number that a machine has.
    case written(String)

    /// Reads a number as RFC 8259 writes it.
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
