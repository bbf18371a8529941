/// A moment as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7). The two obsolete forms are not read.
package struct HTTPDate: Sendable, Hashable, CustomStringConvertible {
    /// Seconds since 1970, UTC.
    package let seconds: Int64

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let weekdays: [Substring] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

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
        return "\(Self.weekdays[days % 7]), \(date) \(time) GMT"
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(digits - text.utf8.count, 0)) + text
    }

    /// Reads a date; nil where it is none.
    package init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 6, words[0].last == ",", Self.weekdays.contains(words[0].dropLast()), words[5] == "GMT",
            let month = Self.months.firstIndex(where: { $0 == words[2] }),
            let day = Self.number(words[1], digits: 2, in: 1...31),
            let year = Self.number(words[3], digits: 4, in: 1...9999)
        else { return nil }
        let time = words[4].split(separator: ":", omittingEmptySubsequences: false)
        guard time.count == 3, let hour = Self.number(time[0], digits: 2, in: 0...23),
            let minute = Self.number(time[1], digits: 2, in: 0...59),
            let second = Self.number(time[2], digits: 2, in: 0...60)
        else { return nil }
        let days = Self.days(year, Int64(month) + 1, day)
        seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
    }

    private static func number(_ text: Substring, digits: Int, in range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int64(text),
            range.contains(value)
        else { return nil }
        return value
    }

    /// Days since 1970 in the Gregorian calendar. Years are taken to begin in March, so that the leap day is the last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month > 2 ? year : year - 1
        let leapDays = year / 4 - year / 100 + year / 400
        let daysBeforeMonth = (153 * ((month + 9) % 12) + 2) / 5
        return year * 365 + leapDays + daysBeforeMonth + day - 1 - 719_468
    }
}
