/// A text body.
struct TextBody: BodyScan {
    let redactor: Redactor
    let rules: TextScan.Rules
    /// Whether NUL bytes are accepted.
    var allowsZero = false

    mutating func scan(_ window: BodyWindow, isFinal: Bool) throws(Unredactable) -> Settled {
        // A NUL means text in a wide charset, or binary data.
        let zero = allowsZero ? nil : window.bytes[window.seen...].firstIndex(of: 0)
        let all = 0..<(zero ?? window.bytes.count)
        var scan = TextScan(
            redactor,
            window.bytes,
            in: all,
            isFinal: isFinal && zero == nil,
            rules: rules,
            depth: 0
        )
        let settled = scan.run(from: window.settled)
        // An error before the NUL is reported first, regardless of how the body is split.
        if scan.isBeyondWindow { throw Unredactable(.tooLong, at: settled) }
        if let zero { throw Unredactable(.encoding, at: zero) }
        return Settled(settled, scan.edits)
    }
}

/// A body of unknown type that isn't JSON: text, unless a byte shows that it is binary.
struct BinaryOrText: BodyScan {
    let redactor: Redactor
    /// Whether the type says that the bytes aren't text, so that any control byte means binary. Otherwise the bytes
    /// must also be invalid UTF-8, because STOMP frames contain control bytes.
    let isOctets: Bool
    private var scan: (any BodyScan)?

    init(redactor: Redactor, isOctets: Bool) {
        self.redactor = redactor
        self.isOctets = isOctets
    }

    mutating func scan(_ window: BodyWindow, isFinal: Bool) throws(Unredactable) -> Settled {
        if scan == nil {
            // The window is full, or the body is complete.
            scan =
                isBinary(window.bytes.prefix(TextScan.window))
                ? UnchangedBody() : TextBody(redactor: redactor, rules: [.all, .lines], allowsZero: true)
        }
        return try scan!.scan(window, isFinal: isFinal)
    }

    private func isBinary(_ beginning: ArraySlice<UInt8>) -> Bool {
        guard beginning.contains(where: { $0 < 0x20 && !$0.isSpace && $0 != 0x1B }) else { return false }
        // The last character may be incomplete.
        return isOctets || (0...3).allSatisfy { String(validating: beginning.dropLast($0), as: UTF8.self) == nil }
    }
}
