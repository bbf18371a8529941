extension TextScan {
    /// Scans JSON in a line of its own, or in the data lines of a server-sent event.
    mutating func json(at candidate: Candidate) -> Step {
        guard rules.contains(.lines) else { return .pass }
        let start = candidate.start
        let mark = dataMark(before: start)
        guard mark != nil || start == floor || isLineEnd(bytes[start - 1]) else { return .pass }
        var lines: [Range<Int>] = []
        var place = start
        while true {
            let end = endOfRun(place, candidate) { !isLineEnd($0) }
            lines.append(place..<end)
            if end == candidate.edge, !candidate.isFinal { return .more }
            guard let mark, isFirstOfEvent(mark) else { break }
            var next = end + (bytes[end..<candidate.edge].starts(with: [0x0D, 0x0A]) ? 2 : 1)
            if next > candidate.edge, candidate.isFinal { break }
            guard next <= candidate.edge, let shouldContinue = has("data:", at: next, candidate) else { return .more }
            guard shouldContinue else { break }
            next += 5
            if next < candidate.edge, bytes[next] == 0x20 { next += 1 }
            place = next
        }
        let text = DecodedText(bytes, lines: lines)
        let all = 0..<text.bytes.count
        guard JSONScan.looksLikeJSON(text.bytes[...]),
            let found = JSONScan.edits(redactor, text.bytes, in: all, depth: depth + 1)
        else { return .pass }
        edits += found.map(text.encoded)
        return .past(lines[lines.count - 1].upperBound)
    }

    func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

    /// Returns the start of a `data:` directly before a position, if it is at the beginning of a line.
    private func dataMark(before place: Int) -> Int? {
        let end = place > floor && bytes[place - 1] == 0x20 ? place - 1 : place
        let start = end - 5
        guard start >= floor, bytes[start..<end].elementsEqual("data:".utf8) else { return nil }
        return start == floor || isLineEnd(bytes[start - 1]) ? start : nil
    }

    /// Returns whether the previous line is short and isn't a data line.
    ///
    /// JSON that begins in the middle of an event isn't a complete text, and would cause lines to be scanned
    /// repeatedly.
    private func isFirstOfEvent(_ mark: Int) -> Bool {
        let lowest = max(floor, mark - Self.lookBack)
        var end = mark
        while end > lowest, isLineEnd(bytes[end - 1]) { end -= 1 }
        // An event begins after an empty line.
        if mark - end > (bytes[end..<mark].starts(with: [0x0D, 0x0A]) ? 2 : 1) || end == floor { return true }
        var start = end
        while start > lowest, !isLineEnd(bytes[start - 1]) { start -= 1 }
        guard start > lowest || start == floor else { return false }
        return !bytes[start..<end].starts(with: "data:".utf8)
    }
}
