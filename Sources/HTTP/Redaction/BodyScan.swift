/// Looks through a body that comes in pieces.
protocol BodyScan: Sendable {
    /// Looks at what has come.
    ///
    /// - Parameter window: what was not settled, and what has come since.
    mutating func scan(_ window: BodyWindow, isFinal: Bool) throws(Unredactable) -> Settled
}

/// What is settled of a window.
struct Settled {
    /// Up to where of the window's bytes.
    let place: Int
    /// What is to be replaced before that, in order.
    var edits: [RedactionEdit]
    /// What stands instead of the bytes, where they are not kept with `edits` alone.
    var bytes: [UInt8]?
    /// Whether more was found than `edits` tell.
    var isCut = false

    init(_ place: Int, _ edits: [RedactionEdit] = []) {
        self.place = place
        self.edits = edits
    }
}

/// The bytes of a body that are being looked at.
struct BodyWindow {
    /// Bytes of the body side by side; those before `settled` are kept for who looks back.
    private(set) var bytes: [UInt8] = []
    /// Where among the body's bytes the first of them is.
    private(set) var origin = 0
    /// How many of the bytes are settled.
    private(set) var settled = 0
    /// How many bytes were looked at.
    private(set) var seen = 0
    /// How many bytes have to be there for another look: one costs as much as there is, and is worth it when that doubled.
    private var wanted = 1

    var isWorthALook: Bool { bytes.count - settled >= wanted }

    mutating func append(_ data: some Sequence<UInt8>) {
        bytes += data
    }

    /// Takes out what is settled now.
    mutating func settle(_ now: Settled) -> [UInt8] {
        let output = now.bytes ?? bytes.applying(now.edits, in: settled..<now.place)
        settled = now.place
        seen = bytes.count
        wanted = max(1, 2 * (bytes.count - settled))
        let old = settled - TextScan.context
        if old > TextScan.window || old > bytes.count / 2 {
            // Many bodies may come at once, none of which is to keep the memory of all that came.
            bytes = Array(bytes[old...])
            origin += old
            settled -= old
            seen -= old
        }
        return output
    }
}

/// A body that is kept as it is.
struct OpenBody: BodyScan {
    mutating func scan(_ window: BodyWindow, isFinal: Bool) -> Settled {
        Settled(window.bytes.count)
    }
}

/// A body of JSON.
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
            return RedactionEdit(range, $0.text, $0.way)
        }
        return Settled(json.safe - window.origin, edits)
    }
}

/// A body of text.
struct TextBody: BodyScan {
    let redactor: Redactor
    let rules: TextScan.Rules
    /// Whether a NUL is a byte like any other.
    var allowsZero = false

    mutating func scan(_ window: BodyWindow, isFinal: Bool) throws(Unredactable) -> Settled {
        // Text of a wider charset, or none at all.
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
        // What is wrong before a NUL comes before it, however the body is cut.
        if scan.isBeyondWindow { throw Unredactable(.tooLong, at: settled) }
        if let zero { throw Unredactable(.encoding, at: zero) }
        return Settled(settled, scan.edits)
    }
}

/// A document of GraphQL, which is looked through as a whole.
struct DocumentBody: BodyScan {
    let redactor: Redactor

    mutating func scan(_ window: BodyWindow, isFinal: Bool) throws(Unredactable) -> Settled {
        guard window.bytes.count <= TextScan.window else { throw Unredactable(.tooLong, at: 0) }
        guard isFinal else { return Settled(0) }
        return Settled(window.bytes.count, redactor.documentEdits(window.bytes, in: 0..<window.bytes.count, depth: 0))
    }
}

/// A body of `application/x-www-form-urlencoded`.
struct FormBody: BodyScan {
    let redactor: Redactor
    private var keptCount = 0
    private var hasSignIn = false
    /// Up to where of the body no item ahead is one that OAuth's `state` stands beside.
    private var looked = 0

    init(_ redactor: Redactor) {
        self.redactor = redactor
    }

    mutating func scan(_ window: BodyWindow, isFinal: Bool) throws(Unredactable) -> Settled {
        let bytes = window.bytes
        var settled = window.settled
        var edits: [RedactionEdit] = []
        while settled < bytes.count {
            // In front of all items but the first that stays is the mark that separates it from others.
            let start = bytes[settled] == UInt8(ascii: "&") ? settled + 1 : settled
            let edge = min(bytes.count, start + TextScan.window)
            let end = bytes[start..<edge].firstIndex(of: UInt8(ascii: "&")) ?? edge
            if end == edge {
                guard edge - start < TextScan.window else { throw Unredactable(.tooLong, at: settled) }
                guard isFinal else { break }
            }
            guard let signsIn = signsIn(window, start..<end, edge, isFinal) else { break }
            var form = FormScan(redactor, bytes, depth: 0, sign: "=", keptCount: keptCount, hasSignIn: signsIn)
            form.add(start..<end)
            form.finish()
            edits += form.edits
            (keptCount, hasSignIn) = (form.keptCount, hasSignIn || (form.hasSignIn && !signsIn))
            settled = max(end, form.edits.last?.range.upperBound ?? end)
        }
        return Settled(settled, edits)
    }

    /// Whether an item stands beside one of OAuth's, if that makes a difference; nil where that cannot be told yet.
    private mutating func signsIn(_ window: BodyWindow, _ item: Range<Int>, _ edge: Int, _ isFinal: Bool) -> Bool? {
        let bytes = window.bytes
        guard !hasSignIn, FormScan.meaning(redactor, bytes[item]).contains(.state) else { return hasSignIn }
        var place = max(item.upperBound, looked - window.origin)
        while place < edge {
            let end = bytes[place..<edge].firstIndex(of: UInt8(ascii: "&")) ?? edge
            let other = bytes[place..<end]
            if let equals = other.firstIndex(of: UInt8(ascii: "=")), equals + 1 < end,
                FormScan.meaning(redactor, other).contains(.signIn)
            {
                return true
            }
            if end == edge { break }
            place = end + 1
            looked = place + window.origin
        }
        // What is beyond the window could be one.
        if edge - item.lowerBound >= TextScan.window { return true }
        return isFinal ? false : nil
    }
}

/// A body whose type does not tell what it is: JSON, if it begins and goes on like that for a window.
struct UnknownBody: BodyScan {
    private let redactor: Redactor
    private let otherwise: @Sendable (Redactor) -> any BodyScan
    private var scan: (any BodyScan)?
    private var json: JSONBody?

    /// - Parameter otherwise: makes what looks through a body that is no JSON.
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
        // Nothing of the window was seen by this one.
        return try self.scan!.scan(window.unseen, isFinal: isFinal)
    }
}

extension BodyWindow {
    fileprivate var unseen: BodyWindow {
        var window = self
        window.seen = 0
        return window
    }
}
