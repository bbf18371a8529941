/// A day of the Gregorian calendar, as numbers alone.
package struct CivilDate {
    package let year: Int
    package let month: Int
    package let day: Int

    /// nil where there is no such day.
    package init?(year: Int, month: Int, day: Int) {
        guard (1...9_999).contains(year), (1...12).contains(month) else { return nil }
        let isLeap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...days[month - 1]).contains(day) else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    // A year is taken to begin with March, so that the leap day is its last. 400 years have 146,097 days; 719,468 days
    // lie between 0000-03-01 and 1970-01-01.

    /// The day that is so many days after 1970-01-01, from the year 0 on.
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

    /// Days since 1970-01-01.
    package var days: Int {
        let year = month > 2 ? year : year - 1
        let fromMarch = month > 2 ? month - 3 : month + 9
        return year * 365 + year / 4 - year / 100 + year / 400 + (fromMarch * 153 + 2) / 5 + day - 1 - 719_468
    }

    /// Seconds since 1970 at this time of the day; nil where there is none.
    package func seconds(_ hour: Int, _ minute: Int, _ second: Int) -> Int? {
        guard (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second) else { return nil }
        return ((days * 24 + hour) * 60 + minute) * 60 + second
    }
}
