/// A date in the Gregorian calendar, without a time or time zone.
package struct CivilDate {
    package let year: Int
    package let month: Int
    package let day: Int

    /// Creates a date, or returns `nil` if there is no such day.
    package init?(year: Int, month: Int, day: Int) {
        guard (1...9_999).contains(year), (1...12).contains(month) else { return nil }
        let isLeap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...days[month - 1]).contains(day) else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    // The computations below start the year in March, so that the leap day is the last day. 400 years have 146,097
    // days, and 719,468 days lie between 0000-03-01 and 1970-01-01.

    /// Creates the date that is a number of days after 1970-01-01.
    ///
    /// - Parameter days: The number of days. May be negative, back to the year 0.
    package init(days: Int) {
        let days = days + 719_468
        let era = days / 146_097
        let rest = days % 146_097
        let yearOfEra = (rest - rest / 1_460 + rest / 36_524 - rest / 146_096) / 365
        let dayOfYear = rest - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * fromMarch + 2) / 5 + 1
        month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// The number of days since 1970-01-01.
    package var days: Int {
        let year = month > 2 ? year : year - 1
        let fromMarch = month > 2 ? month - 3 : month + 9
        return year * 365 + year / 4 - year / 100 + year / 400 + (fromMarch * 153 + 2) / 5 + day - 1 - 719_468
    }

    /// Returns the seconds between 1970 and a time of this day, or `nil` if the time is invalid.
    package func seconds(_ hour: Int, _ minute: Int, _ second: Int) -> Int? {
        guard (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second) else { return nil }
        return ((days * 24 + hour) * 60 + minute) * 60 + second
    }
}
