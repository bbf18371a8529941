#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A moment as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7). The two obsolete forms are read, too.
package struct HTTPDate: Sendable, Hashable, CustomStringConvertible {
    /// Seconds since 1970, UTC.
    package let seconds: Int64

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let weekdays = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"]

    /// A moment from 1970 on.
    package init(seconds: Int64) {
        self.seconds = seconds
    }

    /// As HTTP writes it.
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

    /// Reads a date in one of its three forms; `nil` if it is none. Upper and lower case are the same (RFC 9111, 4.2).
    ///
    /// - Parameters:
    ///   - text: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` (RFC 850) or
    ///     `Sun Nov  6 08:49:37 1994` (asctime).
    ///   - isStrict: Whether the first form needs a year of four digits and the second one of two. Otherwise both may have either.
    ///   - now: The current time in seconds since 1970. A year of two digits is never more than 50 years after it.
    package init?(_ text: String, isStrict: Bool = false, now: @autoclosure () -> Int64 = Int64(Date().timeIntervalSince1970)) {
        let words = text.lowercased().split(separator: " ", omittingEmptySubsequences: false)
        guard let parts = Parts(words, isStrict) ?? Parts(rfc850: words, isStrict) ?? Parts(asctime: words), parts.isOnWeekday,
            let month = Self.months.firstIndex(where: { $0.lowercased() == parts.month }), let time = Self.time(parts.time),
            let day = Self.number(parts.day, digits: 2)
        else { return nil }
        func seconds(_ year: Int) -> Int64? {
            CivilDate(year: year, month: month + 1, day: day).map { Int64($0.days * 86_400 + time) }
        }
        let date: Int64?
        if let lastDigits = Self.number(parts.year, digits: 2) {
            // The latest year with these digits that isn't too far away.
            let limit = CivilDate(days: Int(max(0, now())) / 86_400).year + 50
            let year = limit - (limit - lastDigits) % 100
            // In the fiftieth year the rest of the date decides.
            let isTooFar = year == limit && seconds(year - 50).map { $0 > now() } == true
            date = seconds(isTooFar ? year - 100 : year)
        } else {
            date = Self.number(parts.year, digits: 4).flatMap(seconds)
        }
        guard let date else { return nil }
        self.seconds = date
    }

    /// A date's words.
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

        /// `Sunday, 06-Nov-94 08:49:37 GMT`; also with a year of four digits, which many servers write.
        init?(rfc850 words: [Substring], _ isStrict: Bool) {
            guard words.count == 4, words[0].last == ",", words[3] == "gmt" else { return nil }
            let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard date.count == 3 else { return nil }
            (weekday, day, month, year, time) = (words[0].dropLast(), date[0], date[1], date[2], words[2])
            if isStrict, year.utf8.count != 2 { return nil }
        }

        /// `Sun Nov  6 08:49:37 1994`, a space in the place of the day's first digit.
        init?(asctime words: [Substring]) {
            let isShort = words.count == 6 && words[2].isEmpty && words[3].utf8.count == 1
            guard isShort || words.count == 5 else { return nil }
            day = isShort ? "0" + words[3] : words[2]
            (weekday, month, time, year) = (words[0], words[1], words[words.count - 2], words[words.count - 1])
        }

        /// Whether the first word is a day's name, in whichever of its two forms.
        var isOnWeekday: Bool { weekdays.contains { $0.lowercased() == weekday || $0.prefix(3).lowercased() == weekday } }
    }

    private static func number(_ text: Substring, digits: Int) -> Int? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    /// Seconds of the day. The second 60 is a leap second.
    private static func time(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { number($0, digits: 2) }
        guard parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2] else { return nil }
        return hour < 24 && minute < 60 && second <= 60 ? (hour * 60 + minute) * 60 + second : nil
    }
}
