import BeagleNetHTTP
#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A point in time in the format of archives: `2026-11-22T08:15:30.123456Z` (ISO 8601, RFC 3339).
package enum Timestamp {
    /// Returns the time in UTC, with microsecond precision.
    package static func text(of date: Date) -> String {
        // Dates outside the years 1 to 9999 are clamped.
        let micros = min(max((date.timeIntervalSince1970 * 1e6).rounded(), -62_135_596_800e6), 253_402_300_799e6)
        let (seconds, fraction) = floored(Int(micros), by: 1_000_000)
        let (days, secondOfDay) = floored(seconds, by: 86_400)
        let day = CivilDate(days: days)
        let numbers =
            [
                (day.year, 4, "-"), (day.month, 2, "-"), (day.day, 2, "T"), (secondOfDay / 3600, 2, ":"),
                (secondOfDay / 60 % 60, 2, ":"), (secondOfDay % 60, 2, "."), (fraction, 6, "Z"),
            ] as [(Int, Int, Unicode.Scalar)]
        return String(unsafeUninitializedCapacity: 27) { text in
            var end = 0
            for (number, digits, mark) in numbers {
                end += digits + 1
                text[end - 1] = UInt8(ascii: mark)
                var rest = number
                for place in (end - 1 - digits..<end - 1).reversed() {
                    text[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
            }
            return end
        }
    }

    /// Parses a point in time: any number of digits after the second, then `Z`, an offset such as `-07:00`, or nothing,
    /// which means UTC.
    ///
    /// - Returns: `nil` if the text is not a valid time.
    package static func date(_ text: String) -> Date? {
        var scanner = Scanner(rest: text.utf8[...])
        guard let year = scanner.number(4), scanner.skip("-"), let month = scanner.number(2), scanner.skip("-"),
            let day = scanner.number(2), scanner.skip("T") || scanner.skip("t") || scanner.skip(" "),
            let hour = scanner.number(2), scanner.skip(":"), let minute = scanner.number(2), scanner.skip(":"),
            let second = scanner.number(2),
            let seconds = CivilDate(year: year, month: month, day: day)?.seconds(hour, minute, min(second, 59))
        else { return nil }
        let fraction = scanner.skip(".") || scanner.skip(",") ? scanner.fraction() : 0
        guard let fraction, let offset = scanner.offset(), scanner.rest.isEmpty else { return nil }
        return Date(timeIntervalSince1970: Double(seconds - offset) + fraction)
    }

    private static func floored(_ number: Int, by divisor: Int) -> (Int, Int) {
        let rest = number % divisor
        return rest < 0 ? (number / divisor - 1, rest + divisor) : (number / divisor, rest)
    }

    private struct Scanner {
        var rest: Substring.UTF8View

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest = rest.dropFirst()
            return true
        }

        mutating func number(_ digits: Int) -> Int? {
            let text = rest.prefix(digits)
            guard text.count == digits, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest = rest.dropFirst(digits)
            return Int(Substring(text))
        }

        mutating func fraction() -> Double? {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest.dropFirst(digits.count)
            return digits.isEmpty ? nil : Double("0.\(Substring(digits))")
        }

        /// Parses an offset in seconds east of Greenwich.
        mutating func offset() -> Int? {
            if rest.isEmpty || skip("Z") || skip("z") { return 0 }
            let sign = skip("+") ? 1 : skip("-") ? -1 : 0
            guard sign != 0, let hours = number(2) else { return nil }
            _ = skip(":")
            return sign * (hours * 60 + (number(2) ?? 0)) * 60
        }
    }
}
