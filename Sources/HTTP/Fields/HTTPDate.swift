#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A date in HTTP format: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
///
/// The two obsolete formats can be parsed, too.
package struct HTTPDate: Sendable, Hashable, CustomStringConvertible {
    /// The seconds since 1970, UTC.
    package let seconds: Int64

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let weekdays = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"]

    /// Creates a date, which must not be before 1970.
    package init(seconds: Int64) {
        self.seconds = seconds
    }

    /// The date in HTTP format.
    package var description: String {
        let (days, second) = Int(seconds).quotientAndRemainder(dividingBy: 86_400)
        let day = CivilDate(days: days)
        let time = [second / 3_600, second / 60 % 60, second % 60].map { Self.padded($0, 2) }.joined(separator: ":")
        let date = "\(Self.padded(day.day, 2)) \(Self.months[day.month - 1]) \(Self.padded(day.year, 4))"
        return "\(Self.weekdays[days % 7].prefix(3)), \(date) \(time) GMT"
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(digits - text.utf8.count, 0)) + text
    }

    /// Parses a date in one of the three formats, or returns `nil` for any other text. Case doesn't matter (RFC 9111,
    /// 4.2).
    ///
    /// - Parameters:
    ///   - text: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` (RFC 850) or `Sun Nov  6 08:49:37
    ///     1994` (asctime).
    ///   - isStrict: Whether only the first format may have a year of four digits, and only the second one a year of
    ///     two.
    ///   - now: The current time in seconds since 1970. A two-digit year is never more than 50 years after it.
    package init?(
        _ text: String,
        isStrict: Bool = false,
        now: @autoclosure () -> Int64 = Int64(Date().timeIntervalSince1970)
    ) {
        let words = text.lowercased().split(separator: " ", omittingEmptySubsequences: false)
        guard let parts = Parts(words, isStrict) ?? Parts(rfc850: words, isStrict) ?? Parts(asctime: words),
            parts.isOnWeekday,
            let month = Self.months.firstIndex(where: { $0.lowercased() == parts.month }),
            let time = Self.time(parts.time),
            let day = Self.number(parts.day, digits: 2)
        else { return nil }
        func seconds(_ year: Int) -> Int64? {
            CivilDate(year: year, month: month + 1, day: day).map { Int64($0.days * 86_400 + time) }
        }
        let date: Int64?
        if let lastDigits = Self.number(parts.year, digits: 2) {
            // The latest year with these two digits that isn't more than 50 years away.
            let limit = CivilDate(days: Int(max(0, now())) / 86_400).year + 50
            let year = limit - (limit - lastDigits) % 100
            // In the fiftieth year, the rest of the date decides.
            let isTooFar = year == limit && seconds(year - 50).map { $0 > now() } == true
            date = seconds(isTooFar ? year - 100 : year)
        } else {
            date = Self.number(parts.year, digits: 4).flatMap(seconds)
        }
        guard let date else { return nil }
        self.seconds = date
    }

    /// The components of a date.
    private struct Parts {
        let weekday: Substring
        let day: Substring
        let month: Substring
        let year: Substring
        let time: Substring

        /// `Sun, 06 Nov 1994 08:49:37 GMT`
        init?(_ words: [Substring], _ isStrict: Bool) {
            guard words.count == 6, words[0].last == ",", words[5] == "gmt" else { return nil }
            (weekday, day, month, year, time) = (words[0].dropLast(), words[1], words[2], words[3], words[4])
            if isStrict, year.utf8.count != 4 { return nil }
        }

        /// `Sunday, 06-Nov-94 08:49:37 GMT`, also with a four-digit year, which many servers send.
        init?(rfc850 words: [Substring], _ isStrict: Bool) {
            guard words.count == 4, words[0].last == ",", words[3] == "gmt" else { return nil }
            let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard date.count == 3 else { return nil }
            (weekday, day, month, year, time) = (words[0].dropLast(), date[0], date[1], date[2], words[2])
            if isStrict, year.utf8.count != 2 { return nil }
        }

        /// `Sun Nov  6 08:49:37 1994`, with a space in place of a leading zero of the day.
        init?(asctime words: [Substring]) {
            let isShort = words.count == 6 && words[2].isEmpty && words[3].utf8.count == 1
            guard isShort || words.count == 5 else { return nil }
            day = isShort ? "0" + words[3] : words[2]
            (weekday, month, time, year) = (words[0], words[1], words[words.count - 2], words[words.count - 1])
        }

        /// Whether `weekday` is the name of a day, in long or short form.
        var isOnWeekday: Bool {
            weekdays.contains { $0.lowercased() == weekday || $0.prefix(3).lowercased() == weekday }
        }
    }

    private static func number(_ text: Substring, digits: Int) -> Int? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    /// Parses the seconds since midnight. Second 60 is a leap second.
    private static func time(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { number($0, digits: 2) }
        guard parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2] else { return nil }
        return hour < 24 && minute < 60 && second <= 60 ? (hour * 60 + minute) * 60 + second : nil
    }
}
