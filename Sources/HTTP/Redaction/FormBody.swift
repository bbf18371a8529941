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
