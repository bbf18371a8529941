extension TextScan {
    private static let cardDigits = 13...19

    /// Scans the number of a payment card (ISO/IEC 7812-1): 13 to 19 digits with a valid check digit.
    ///
    /// The first digit isn't 0 or 1, which excludes timestamps in milliseconds. The digits are contiguous or in groups
    /// separated by a space or a dash. The first group has four digits, and the others have three to six.
    mutating func card(at candidate: Candidate) -> Step {
        let start = candidate.start
        let runEnd = endOfRun(start, candidate, \.isDigit)
        let isWhole = runEnd < candidate.edge || candidate.isFinal
        guard bytes[start] > UInt8(ascii: "1"), isAtBoundary(start), !isFraction(start) else {
            return .past(runEnd)
        }
        if !isWhole, runEnd - start <= 19 { return .more }
        if Self.cardDigits.contains(runEnd - start) {
            switch endsNumber(runEnd, candidate) {
            case nil: return .more
            case true: if Self.hasCheckDigit(bytes[start..<runEnd]) { return redact(start..<runEnd, "<card>") }
            case false: break
            }
        }
        guard runEnd - start == 4 else { return .past(runEnd) }
        return groups(at: candidate, from: runEnd)
    }

    private mutating func groups(at candidate: Candidate, from firstEnd: Int) -> Step {
        let start = candidate.start
        var digits = Array(bytes[start..<firstEnd])
        var place = firstEnd
        var end: Int?
        while digits.count < Self.cardDigits.upperBound {
            guard place + 1 < candidate.edge else {
                if !candidate.isFinal { return .more }
                break
            }
            guard bytes[place] == bytes[firstEnd], bytes[place] == 0x20 || bytes[place] == UInt8(ascii: "-") else {
                break
            }
            let group = endOfRun(place + 1, candidate, \.isDigit)
            if group == candidate.edge, !candidate.isFinal { return .more }
            guard (3...6).contains(group - place - 1) else { break }
            digits += bytes[(place + 1)..<group]
            place = group
            guard Self.cardDigits.contains(digits.count), Self.hasCheckDigit(digits[...]) else { continue }
            switch endsNumber(place, candidate) {
            case nil: return .more
            case true: end = place
            case false: break
            }
        }
        guard let end else { return .past(firstEnd) }
        if let text = redactor.replacement(for: digits.prefix(bytes[start..<end].count { $0.isDigit })) {
            edits.append(RedactionEdit(start..<end, text, "<card>"))
        }
        return .past(end)
    }

    /// Returns whether a number ends here, without a letter or fraction after it, or `nil` if more bytes are needed.
    private func endsNumber(_ place: Int, _ candidate: Candidate) -> Bool? {
        guard place < candidate.edge else { return candidate.isFinal ? true : nil }
        guard bytes[place] == UInt8(ascii: ".") else { return !bytes[place].isWord }
        guard place + 1 < candidate.edge else { return candidate.isFinal ? true : nil }
        return !bytes[place + 1].isDigit
    }

    /// Returns whether the digits here follow a decimal point.
    private func isFraction(_ place: Int) -> Bool {
        place - 1 > floor && bytes[place - 1] == UInt8(ascii: ".") && bytes[place - 2].isDigit
    }

    /// Returns whether the check digit matches the other digits (ISO/IEC 7812-1, annex B).
    private static func hasCheckDigit(_ digits: ArraySlice<UInt8>) -> Bool {
        var sum = 0
        for (index, byte) in digits.reversed().enumerated() {
            let digit = Int(byte - UInt8(ascii: "0"))
            sum += index.isMultiple(of: 2) ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit
        }
        return sum.isMultiple(of: 10)
    }
}
