/// The values of one JSON text in the order in which they are written, each with the place of its text, of what follows it
/// and of what it is in: `Decodable` types are made of it (`TapeDecoder`).
package final class JSONTape {
    struct Entry {
        let kind: JSONTokenizer.Token.Kind
        /// Whether its text has escapes; of an object, whether a name in it has, or is not ASCII.
        var hasEscapes = false
        /// Where its text begins, without quotes.
        var start: UInt32 = 0
        /// Where its text ends, without quotes.
        var end: UInt32 = 0
        /// How many members or elements it has.
        var count: UInt32 = 0
        /// The entry behind it and all that it holds.
        var next: UInt32 = 0
        /// The entry of what it is in; of the outermost value its own.
        var parent: UInt32 = 0
        /// Its number among the elements of what it is in.
        var ordinal: UInt32 = 0
    }

    private let text: Data
    /// Whether all values are there, however deep.
    package let isWhole: Bool
    /// Where `text` is, while `reading` runs and not a moment longer. Unchecked, as a tape is of one task, and looked at for each
    /// value.
    @exclusivity(unchecked) private var bytes: UnsafeRawBufferPointer?
    private let entries: [Entry]
    /// What leads to the outermost value.
    private let base: [any CodingKey]
    /// The entry that paths begin at.
    private let root: Int
    /// Long names that stood in a path: who finds out by trying asks for the same again and again.
    private var longNames: [Int: String] = [:]

    /// Reads a text in UTF-8.
    ///
    /// - Parameter depth: how many containers around a value it is kept in; all are by default. What is deeper is looked at and
    ///   not kept, so that a long text takes little room; nothing can be made of it.
    /// - Throws: `JSONFault` where it has not the grammar of JSON, or more bytes than can be counted here.
    package init(_ text: Data, depth: Int = .max) throws(JSONFault) {
        guard text.count < UInt32.max else { throw JSONFault(offset: 0, reason: "the text is larger than 4 GiB") }
        self.text = text
        isWhole = depth == .max
        base = []
        root = 0
        let read = text.withUnsafeBytes { bytes in
            Result { () throws(JSONFault) in try Self.read(bytes.bindMemory(to: UInt8.self), depth) }
        }
        entries = try read.get()
    }

    /// One null, of what is not there.
    init(nullAt path: [any CodingKey]) {
        text = Data()
        isWhole = true
        entries = [Entry(kind: .null, next: 1)]
        base = path
        root = 0
    }

    /// The same, where a value in it is the outermost.
    init(_ tape: JSONTape, at index: Int) {
        text = tape.text
        isWhole = tape.isWhole
        entries = tape.entries
        base = []
        root = index
    }

    /// Makes something of the values: the text is found once for all of them.
    func reading<Value>(_ make: () throws -> Value) rethrows -> Value {
        try text.withUnsafeBytes { bytes in
            self.bytes = bytes
            defer { self.bytes = nil }
            return try make()
        }
    }

    private func withText<R>(_ look: (UnsafeRawBufferPointer) -> R) -> R {
        if let bytes { look(bytes) } else { text.withUnsafeBytes(look) }
    }

    private static func read(_ bytes: UnsafeBufferPointer<UInt8>, _ depth: Int) throws(JSONFault) -> [Entry] {
        var scanner = JSONScanner(bytes)
        var writer = Writer(bytes, depth)
        if depth == .max { writer.entries.reserveCapacity(bytes.count / 32 + 4) }
        scanner.passByteOrderMark()
        _ = try scanner.value(&writer)
        try scanner.finish()
        return writer.entries
    }

    subscript(index: Int) -> Entry { entries[index] }

    /// What leads to a value, or to that of a name.
    func path(to index: Int) -> [any CodingKey] {
        var (path, place) = ([any CodingKey](), entries[index].kind == .name ? index + 1 : index)
        while place > root {
            let entry = entries[place]
            let isMember = entries[Int(entry.parent)].kind == .objectStart
            path.append(isMember ? TapeKey(nameInPath(at: place - 1)) : TapeKey(Int(entry.ordinal)))
            place = Int(entry.parent)
        }
        return base + path.reversed()
    }

    private func nameInPath(at index: Int) -> String {
        if let name = longNames[index] { return name }
        let name = unicode(at: index) ?? ""
        if name.utf8.count > 64 { longNames[index] = name }
        return name
    }

    /// Where the values of an array, and the names of an object, begin that are in a container. A name is followed by its value.
    package func children(of index: Int) -> some Sequence<Int> {
        let (step, end) = (entries[index].kind == .objectStart ? 1 : 0, Int(entries[index].next))
        return sequence(state: index + 1) { [entries] place -> Int? in
            guard place < end else { return nil }
            defer { place = Int(entries[place + step].next) }
            return place
        }
    }

    /// Where the text of a value is, with its quotes.
    package func range(of index: Int) -> Range<Int> {
        let entry = entries[index]
        let quotes = entry.kind == .string ? 1 : 0
        return Int(entry.start) - quotes..<Int(entry.end) + quotes
    }

    package func isObject(_ index: Int) -> Bool { entries[index].kind == .objectStart }
    package func isNull(_ index: Int) -> Bool { entries[index].kind == .null }

    /// The value of the last member of this name.
    package func lastMember(_ name: String, of index: Int) -> Int? {
        var last: Int?
        lookForMembers(name, of: index) { value in
            last = value
            return true
        }
        return last
    }

    /// The values of the last members of three names, found together.
    package func lastMembers(
        _ names: (StaticString, StaticString, StaticString),
        of index: Int
    ) -> (Int?, Int?, Int?) {
        var last: (Int?, Int?, Int?)
        withText { text in
            let end = Int(entries[index].next)
            var place = index + 1
            while place < end {
                if isName(place, names.0, text) { last.0 = place + 1 }
                if isName(place, names.1, text) { last.1 = place + 1 }
                if isName(place, names.2, text) { last.2 = place + 1 }
                place = Int(entries[place + 1].next)
            }
        }
        return last
    }

    private func isName(_ place: Int, _ name: StaticString, _ text: UnsafeRawBufferPointer) -> Bool {
        name.withUTF8Buffer { isName(place, $0, text) }
    }

    /// What text means; what is no Unicode in it is U+FFFD.
    package func repairedString(at index: Int) -> String {
        let entry = entries[index]
        return withText { text in
            let written = text[Int(entry.start)..<Int(entry.end)]
            return entry.hasEscapes ? JSONText.unescaped(Array(written)[...]) : String(decoding: written, as: UTF8.self)
        }
    }

    /// The value of the first member of this name.
    func member(_ name: String, of index: Int) -> Int? {
        var first: Int?
        lookForMembers(name, of: index) { value in
            first = value
            return false
        }
        return first
    }

    /// - Parameter goesOn: is given the value of each member of this name, and tells whether to look for another.
    private func lookForMembers(_ name: String, of index: Int, _ goesOn: (Int) -> Bool) {
        var name = name
        name.withUTF8 { name in
            withText { text in
                let end = Int(entries[index].next)
                var place = index + 1
                while place < end {
                    if isName(place, name, text), !goesOn(place + 1) { return }
                    place = Int(entries[place + 1].next)
                }
            }
        }
    }

    private func isName(_ place: Int, _ name: UnsafeBufferPointer<UInt8>, _ text: UnsafeRawBufferPointer) -> Bool {
        let entry = entries[place]
        let count = Int(entry.end - entry.start)
        if entry.hasEscapes {
            // An escape has six bytes at most for one.
            guard count > name.count, count <= 6 * name.count else { return false }
            return unicode(at: place)?.utf8.elementsEqual(name) == true
        }
        guard count == name.count else { return false }
        let start = Int(entry.start)
        return name.indices.allSatisfy { text[start + $0] == name[$0] }
    }
}

// MARK: - Values

extension JSONTape {
    /// What a string, name or number says, as it is written but for escapes.
    ///
    /// Half of a surrogate pair is U+FFFD.
    ///
    /// - Throws: `DecodingError` where it is not UTF-8.
    func string(at index: Int) throws -> String {
        guard let string = unicode(at: index) else { throw corrupted(index, "the text is not valid Unicode") }
        return string
    }

    /// The same; nil where it is none.
    private func unicode(at index: Int) -> String? {
        let entry = entries[index]
        return withText { text -> String? in
            let written = UnsafeRawBufferPointer(rebasing: text[Int(entry.start)..<Int(entry.end)])
            guard entry.hasEscapes else { return String(unicode: written.assumingMemoryBound(to: UInt8.self)) }
            return JSONText.bytes(of: Array(written)[...]).withUnsafeBufferPointer { String(unicode: $0) }
        }
    }

    /// - Throws: `DecodingError` where a name of an object is no text.
    func checkNames(of index: Int) throws {
        guard entries[index].hasEscapes else { return }
        for name in children(of: index) { _ = try string(at: name) }
    }

    /// The number where it is whole and written without fraction and exponent, and fits; nil of any other.
    func integer<Value: FixedWidthInteger>(at index: Int) -> Value? {
        let entry = entries[index]
        return withText { (text: UnsafeRawBufferPointer) -> Value? in
            var place = Int(entry.start)
            let isNegative = text[place] == UInt8(ascii: "-")
            if isNegative { place += 1 }
            var value: Value = 0
            while place < Int(entry.end) {
                guard let digit = Value(exactly: text[place] &- 0x30), digit < 10 else { return nil }
                let (shifted, isTooMuch) = value.multipliedReportingOverflow(by: 10)
                let (sum, overflows) =
                    isNegative ? shifted.subtractingReportingOverflow(digit) : shifted.addingReportingOverflow(digit)
                if isTooMuch || overflows { return nil }
                value = sum
                place += 1
            }
            return value
        }
    }

    /// The text of a value of one line.
    func raw(at index: Int) -> Data {
        let start = text.startIndex
        return text[start + Int(entries[index].start)..<start + Int(entries[index].end)]
    }

    /// That a value is not of this type.
    func mismatch(_ type: Any.Type, at index: Int) -> DecodingError {
        let found = entries[index].kind.words
        let context = DecodingError.Context(
            codingPath: path(to: index),
            debugDescription: "expected \(type), found \(found)"
        )
        return entries[index].kind == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// That nothing can be made of a value. The reason does not quote it.
    func corrupted(_ index: Int, _ reason: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path(to: index), debugDescription: reason))
    }
}

extension String {
    /// Text in UTF-8; nil where it is none.
    fileprivate init?(unicode bytes: UnsafeBufferPointer<UInt8>) {
        // Asked by itself, `String` looks types up at each call.
        if bytes.isASCII {
            self.init(decoding: bytes, as: UTF8.self)
        } else {
            self.init(validating: bytes, as: UTF8.self)
        }
    }
}

extension Collection<UInt8> {
    /// All are looked at, as that can be done with many at once.
    fileprivate var isASCII: Bool { reduce(0) { $0 | $1 } < 0x80 }
}

extension JSONTokenizer.Token.Kind {
    fileprivate var words: String {
        switch self {
        case .objectStart, .objectEnd: "an object"
        case .arrayStart, .arrayEnd: "an array"
        case .name, .string: "a string"
        case .number: "a number"
        case .true, .false: "a Boolean"
        case .null: "null"
        }
    }
}

/// What leads to a value: a member's name, or an element's number.
struct TapeKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(_ index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(intValue) }
}

// MARK: - Writing

private struct Writer: JSONScanner.Visitor {
    var entries: [JSONTape.Entry] = []
    private var parent = 0
    private let bytes: UnsafeBufferPointer<UInt8>
    /// How many containers are open, and in how many values are kept.
    private var depth = 0
    private let limit: Int

    init(_ bytes: UnsafeBufferPointer<UInt8>, _ limit: Int) {
        self.bytes = bytes
        self.limit = limit
    }

    mutating func open(isObject: Bool, at start: Int) {
        defer { depth += 1 }
        if depth > limit { return }
        append(isObject ? .objectStart : .arrayStart, start..<start, false)
        parent = entries.count - 1
    }

    mutating func close(at end: Int) {
        depth -= 1
        if depth > limit { return }
        entries[parent].next = UInt32(truncatingIfNeeded: entries.count)
        entries[parent].end = UInt32(truncatingIfNeeded: end)
        parent = Int(entries[parent].parent)
    }

    mutating func name(_ text: JSONScanner.Text) {
        if depth > limit { return }
        if text.hasEscapes || !bytes[text.range].isASCII { entries[parent].hasEscapes = true }
        append(.name, text.range, text.hasEscapes)
    }

    mutating func string(_ text: JSONScanner.Text) {
        if depth <= limit { append(.string, text.range, text.hasEscapes) }
    }

    mutating func scalar(_ kind: JSONTokenizer.Token.Kind, _ range: Range<Int>) {
        if depth <= limit { append(kind, range, false) }
    }

    private mutating func append(_ kind: JSONTokenizer.Token.Kind, _ range: Range<Int>, _ hasEscapes: Bool) {
        var entry = JSONTape.Entry(
            kind: kind,
            hasEscapes: hasEscapes,
            start: UInt32(truncatingIfNeeded: range.lowerBound),
            end: UInt32(truncatingIfNeeded: range.upperBound),
            next: UInt32(truncatingIfNeeded: entries.count + 1),
            parent: UInt32(truncatingIfNeeded: parent)
        )
        if !entries.isEmpty, kind != .name {
            entry.ordinal = entries[parent].count
            entries[parent].count += 1
        }
        entries.append(entry)
    }
}
