/// An incremental scan of a body for secrets.
protocol BodyScan: Sendable {
    /// Scans the bytes received so far.
    ///
    /// - Parameter window: The bytes that aren't final yet, including the new ones.
    mutating func scan(_ window: BodyWindow, isFinal: Bool) throws(Unredactable) -> Settled
}

/// The part of a window whose output is final.
struct Settled {
    /// The end of that part, as an index into the window's bytes.
    let place: Int
    /// The replacements in that part, in order.
    var edits: [RedactionEdit]
    /// The complete output, if it isn't just the bytes with `edits` applied.
    var bytes: [UInt8]?
    /// Whether more secrets were found than `edits` contains.
    var isTruncated = false

    init(_ place: Int, _ edits: [RedactionEdit] = []) {
        self.place = place
        self.edits = edits
    }
}

/// The bytes of a body that are being scanned.
struct BodyWindow {
    /// Consecutive bytes of the body. Those before `settled` are kept for looking back.
    private(set) var bytes: [UInt8] = []
    /// The offset of the first byte in the body.
    private(set) var origin = 0
    /// The number of bytes that are final.
    private(set) var settled = 0
    /// The number of bytes that have been scanned.
    private(set) var seen = 0
    /// The number of bytes required for the next scan. A scan examines all bytes, so it waits until their number has
    /// doubled.
    private var wanted = 1

    var isReadyToScan: Bool { bytes.count - settled >= wanted }

    mutating func append(_ data: some Sequence<UInt8>) {
        bytes += data
    }

    /// Returns the output of the bytes that are now final, and drops them if possible.
    mutating func settle(_ now: Settled) -> [UInt8] {
        let output = now.bytes ?? bytes.applying(now.edits, in: settled..<now.place)
        settled = now.place
        seen = bytes.count
        wanted = max(1, 2 * (bytes.count - settled))
        let old = settled - TextScan.context
        if old > TextScan.window || old > bytes.count / 2 {
            // A new array releases the memory, because many bodies may be received at the same time.
            bytes = Array(bytes[old...])
            origin += old
            settled -= old
            seen -= old
        }
        return output
    }
}

/// A body that stays unchanged.
struct UnchangedBody: BodyScan {
    mutating func scan(_ window: BodyWindow, isFinal: Bool) -> Settled {
        Settled(window.bytes.count)
    }
}

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

/// A GraphQL document, which is scanned as a whole.
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
    /// The position in the body up to which a look ahead has found no item that makes `state` an OAuth secret.
    private var looked = 0

    init(_ redactor: Redactor) {
        self.redactor = redactor
    }

    mutating func scan(_ window: BodyWindow, isFinal: Bool) throws(Unredactable) -> Settled {
        let bytes = window.bytes
        var settled = window.settled
        var edits: [RedactionEdit] = []
        while settled < bytes.count {
            // Every item except the first one kept follows a separator.
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

    /// Returns whether an item next to this one makes it an OAuth secret, or `nil` if more bytes are needed.
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
        // An item beyond the window could be one.
        if edge - item.lowerBound >= TextScan.window { return true }
        return isFinal ? false : nil
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

extension BodyWindow {
    fileprivate var unseen: BodyWindow {
        var window = self
        window.seen = 0
        return window
    }
}
