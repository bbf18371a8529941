/// A JSON body.
struct JSONBody: BodyScan {
    private var json: JSONScan

    init(_ redactor: Redactor) {
        json = JSONScan(redactor)
    }

    mutating func scan(_ window: BodyWindow, isFinal: Bool) throws(Unredactable) -> Settled {
        if window.origin == 0, window.seen == 0, json.passes(window.bytes) { return Settled(window.bytes.count) }
        try json.take(window.bytes, in: window.seen..<window.bytes.count, origin: window.origin)
        if isFinal { try json.finish(window.bytes, origin: window.origin) }
        let edits = json.takeEdits().map {
            let range = $0.range.lowerBound - window.origin..<$0.range.upperBound - window.origin
            return RedactionEdit(range, $0.text, $0.path)
        }
        return Settled(json.safe - window.origin, edits)
    }
}

/// A body of unknown format: JSON if it begins like JSON and is valid up to the end of a window, otherwise another
/// format.
struct UnknownBody: BodyScan {
    private let redactor: Redactor
    private let otherwise: @Sendable (Redactor) -> any BodyScan
    private var scan: (any BodyScan)?
    private var json: JSONBody?

    /// Creates a scan for a body of unknown format.
    ///
    /// - Parameter otherwise: A function that returns the scan for a body that isn't JSON.
    init(_ redactor: Redactor, otherwise: @escaping @Sendable (Redactor) -> any BodyScan) {
        self.redactor = redactor
        self.otherwise = otherwise
    }

    mutating func scan(_ window: BodyWindow, isFinal: Bool) throws(Unredactable) -> Settled {
        if scan != nil { return try scan!.scan(window, isFinal: isFinal) }
        if window.bytes.count < TextScan.window, !isFinal { return Settled(0) }
        let beginning = window.bytes.prefix(TextScan.window)
        let text = beginning.starts(with: [0xEF, 0xBB, 0xBF]) ? beginning.dropFirst(3) : beginning
        guard JSONScan.looksLikeJSON(text) else { return try use(otherwise(redactor), window, isFinal) }
        var trial = JSONScan(redactor)
        do throws(Unredactable) {
            try trial.take(window.bytes, in: 0..<beginning.count, origin: 0)
        } catch  where error.reason == .malformed {
            return try use(otherwise(redactor), window, isFinal)
        } catch {}
        return try use(JSONBody(redactor), window, isFinal)
    }

    private mutating func use(
        _ scan: any BodyScan,
        _ window: BodyWindow,
        _ isFinal: Bool
    ) throws(Unredactable) -> Settled {
        self.scan = scan
        // The new scan hasn't seen any of the window.
        return try self.scan!.scan(window.unseen, isFinal: isFinal)
    }
}
