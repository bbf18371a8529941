/// The date format of curl's files: `YYYYMMDD HH:MM:SS` in UTC.
extension Date {
    /// Parses a date, or returns `nil` if it isn't valid.
    init?(curl text: Substring) {
        let numbers = text.split { $0 == " " || $0 == ":" }.map { Int($0) ?? -1 }
        guard numbers.count == 4, numbers[0] > 0,
            let seconds = CivilDate(year: numbers[0] / 10_000, month: numbers[0] / 100 % 100, day: numbers[0] % 100)?
                .seconds(numbers[1], numbers[2], numbers[3])
        else { return nil }
        self.init(timeIntervalSince1970: TimeInterval(seconds))
    }

    /// The date as text. It must not be before 1970, and is clamped to the last second of the year 9999.
    var curlText: String {
        let seconds = Int(min(timeIntervalSince1970, 253_402_300_799))
        let day = CivilDate(days: seconds / 86_400)
        func digits(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
        let time = [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60].map(digits).joined(separator: ":")
        return "\(day.year)\(digits(day.month))\(digits(day.day)) \(time)"
    }
}
