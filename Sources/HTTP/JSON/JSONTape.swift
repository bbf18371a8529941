/// The values of one JSON text in the order in which they are written, each with the place of its text, of what follows it
/// and of what it is in: `Decodable` types are made of it (`TapeDecoder`).
final class JSONTape {
    struct Entry {
        let kind: JSONTokenizer.Token.Kind
        var hasEscapes = false
        /// Where its text begins, without quotes.
        var start: UInt32 = 0
        /// Where its text ends; of a container, how many members or elements it has.
        var end: UInt32 = 0
        /// The entry behind it and all that it holds.
        var next: UInt32 = 0
        /// The entry of what it is in; of the outermost value its own.
        var parent: UInt32 = 0
        /// Its number among the elements of what it is in.
        var ordinal: UInt32 = 0
    }

    private let text: Data
    private let entries: [Entry]
    /// What leads to the outermost value.
    private let base: [any CodingKey]
    /// Long names that stood in a path: who finds out by trying asks for the same again and again.
    private var longNames: [Int: String] = [:]

    /// Reads a text in UTF-8.
    ///
    /// - Throws: `JSONFault` where it has not the grammar of JSON, or more bytes than can be counted here.
    init(_ text: Data) throws(JSONFault) {
        guard text.count < UInt32.max else { throw JSONFault(offset: 0, reason: "the text is too long") }
        self.text = text
        base = []
        let read = text.withUnsafeBytes { bytes in
            Result { () throws(JSONFault) in try Self.read(bytes.bindMemory(to: UInt8.self)) }
        }
        entries = try read.get()
    }

    /// One null, of what is not there.
    init(nullAt path: [any CodingKey]) {
        text = Data()
        entries = [Entry(kind: .null, next: 1)]
        base = path
    }

    private static func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONFault) -> [Entry] {
        var scanner = JSONScanner(bytes)
        var writer = Writer()
        writer.entries.reserveCapacity(bytes.count / 16 + 4)
        scanner.passByteOrderMark()
        _ = try scanner.value(&writer)
        try scanner.finish()
        return writer.entries
    }

    subscript(index: Int) -> Entry { entries[index] }

    /// What leads to a value, or to that of a name.
    func path(to index: Int) -> [any CodingKey] {
        var (path, place) = ([any CodingKey](), entries[index].kind == .name ? index + 1 : index)
        while place > 0 {
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

    /// Where the values of an array, and the names of an object, begin that are in a container.
    func children(of index: Int) -> some Sequence<Int> {
        let (step, end) = (entries[index].kind == .objectStart ? 1 : 0, Int(entries[index].next))
        return sequence(state: index + 1) { [entries] place -> Int? in
            guard place < end else { return nil }
            defer { place = Int(entries[place + step].next) }
            return place
        }
    }

    /// The value of the first member of this name.
    func member(_ name: String, of index: Int) -> Int? {
        var name = name
        return name.withUTF8 { name in
            text.withUnsafeBytes { text in
                let end = Int(entries[index].next)
                var place = index + 1
                while place < end {
                    if isName(place, name, text) { return place + 1 }
                    place = Int(entries[place + 1].next)
                }
                return nil
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
        return text[Int(entry.start)..<Int(entry.end)].elementsEqual(name)
    }
}

// MARK: - Values

extension JSONTape {
    /// What a string, name or number says, as it is written but for escapes.
    ///
    /// - Throws: `DecodingError` where it is not UTF-8, or has half of a surrogate pair.
    func string(at index: Int) throws -> String {
        guard let string = unicode(at: index) else { throw corrupted(index, "the text is not Unicode") }
        return string
    }

    /// The same; nil where it is none.
    private func unicode(at index: Int) -> String? {
        let entry = entries[index]
        return text.withUnsafeBytes { text -> String? in
            let written = UnsafeRawBufferPointer(rebasing: text[Int(entry.start)..<Int(entry.end)])
            guard entry.hasEscapes else { return String(validating: written, as: UTF8.self) }
            var isWhole = true
            let meant = JSONText.bytes(of: Array(written)[...]) { _ in isWhole = false }
            return isWhole ? String(validating: meant, as: UTF8.self) : nil
        }
    }

    /// - Throws: `DecodingError` where a name of an object is no text.
    func checkNames(of index: Int) throws {
        for name in children(of: index) {
            let entry = entries[name]
            let isPlain = text.withUnsafeBytes { text in
                !entry.hasEscapes && text[Int(entry.start)..<Int(entry.end)].allSatisfy { $0 < 0x80 }
            }
            if !isPlain { _ = try string(at: name) }
        }
    }

    /// The number where it is whole and written without fraction and exponent, and fits; nil of any other.
    func integer<Value: FixedWidthInteger>(at index: Int) -> Value? {
        let entry = entries[index]
        return text.withUnsafeBytes { (text: UnsafeRawBufferPointer) -> Value? in
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
            debugDescription: "\(type) is expected, and \(found) is there"
        )
        return entries[index].kind == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// That nothing can be made of a value. The reason does not quote it.
    func corrupted(_ index: Int, _ reason: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path(to: index), debugDescription: reason))
    }
}

extension JSONTokenizer.Token.Kind {
    fileprivate var words: String {
        switch self {
        case .objectStart, .objectEnd: "an object"
        case .arrayStart, .arrayEnd: "an array"
        case .name, .string: "a string"
        case .number: "a number"
        case .true, .false: "a truth value"
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

    mutating func open(isObject: Bool) {
        append(JSONTape.Entry(kind: isObject ? .objectStart : .arrayStart))
        parent = entries.count - 1
    }

    mutating func close() {
        entries[parent].next = UInt32(truncatingIfNeeded: entries.count)
        parent = Int(entries[parent].parent)
    }

    mutating func name(_ text: JSONScanner.Text) {
        append(.name, text.range, text.hasEscapes)
    }

    mutating func string(_ text: JSONScanner.Text) {
        append(.string, text.range, text.hasEscapes)
    }

    mutating func scalar(_ kind: JSONTokenizer.Token.Kind, _ range: Range<Int>) {
        append(kind, range, false)
    }

    private mutating func append(_ kind: JSONTokenizer.Token.Kind, _ range: Range<Int>, _ hasEscapes: Bool) {
        append(
            JSONTape.Entry(
                kind: kind,
                hasEscapes: hasEscapes,
                start: UInt32(truncatingIfNeeded: range.lowerBound),
                end: UInt32(truncatingIfNeeded: range.upperBound)
            )
        )
    }

    private mutating func append(_ entry: JSONTape.Entry) {
        var entry = entry
        entry.parent = UInt32(truncatingIfNeeded: parent)
        entry.next = UInt32(truncatingIfNeeded: entries.count + 1)
        if !entries.isEmpty, entry.kind != .name {
            entry.ordinal = entries[parent].end
            entries[parent].end += 1
        }
        entries.append(entry)
    }
}
