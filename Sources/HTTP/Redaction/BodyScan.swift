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
