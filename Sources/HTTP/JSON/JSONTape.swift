/// The values of a JSON text in the order in which they are written, from which `TapeDecoder` decodes `Decodable`
/// types.
///
/// Each entry has the position of its text, of the entry after it and of its container.
package final class JSONTape {
    struct Entry {
        let kind: JSONTokenizer.Token.Kind
        /// Whether the text has escapes. For an object, whether a name has escapes or isn't ASCII.
        var hasEscapes = false
        /// The start of the text, without quotes.
        var start: UInt32 = 0
        /// The end of the text, without quotes.
        var end: UInt32 = 0
        /// The number of members or elements.
        var count: UInt32 = 0
        /// The index of the entry after this value and everything in it.
        var next: UInt32 = 0
        /// The index of the container's entry. The outermost value refers to itself.
        var parent: UInt32 = 0
        /// The index of the value among the elements of its container.
        var ordinal: UInt32 = 0
    }

    private let text: Data
    /// Whether all values were recorded, regardless of depth.
    package let isComplete: Bool
    /// The bytes of `text`, set only while `reading` runs.
    ///
    /// Exclusivity isn't checked, because only one task uses a tape, and the check would run for each value.
    @exclusivity(unchecked) private var bytes: UnsafeRawBufferPointer?
    private let entries: [Entry]
    /// The path of the outermost value.
    private let base: [any CodingKey]
    /// The entry at which paths begin.
    private let root: Int
    /// A cache of long names for paths. A type that decodes by trial and error causes many errors with the same path.
    private var longNames: [Int: String] = [:]

    /// Creates a tape from a text in UTF-8.
    ///
    /// - Parameter depth: The maximum number of containers around a recorded value; unlimited by default. Deeper values
    ///   are checked but not recorded, which saves memory for a long text. They can't be decoded.
    /// - Throws: `JSONFault` if the text isn't valid JSON, or isn't smaller than 4 GiB.
    package init(_ text: Data, depth: Int = .max) throws(JSONFault) {
        guard text.count < UInt32.max else { throw JSONFault(offset: 0, reason: "the text is larger than 4 GiB") }
        self.text = text
        isComplete = depth == .max
        base = []
        root = 0
        let read = text.withUnsafeBytes { bytes in
            Result { () throws(JSONFault) in try Self.read(bytes.bindMemory(to: UInt8.self), depth) }
        }
        entries = try read.get()
    }

    /// Creates a tape with a single null, which represents a missing value.
    init(nullAt path: [any CodingKey]) {
        text = Data()
        isComplete = true
        entries = [Entry(kind: .null, next: 1)]
        base = path
        root = 0
    }

    /// Creates a tape with the same text whose outermost value is the one at `index`.
    init(_ tape: JSONTape, at index: Int) {
        text = tape.text
        isComplete = tape.isComplete
        entries = tape.entries
        base = []
        root = index
    }

    /// Runs a function that decodes values, with a pointer to the text that is obtained only once.
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

    /// Returns the coding path to a value, or to the value of a name.
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

    /// Returns the entries of the elements of an array, or of the names of an object.
    ///
    /// The value of a member follows its name.
    package func children(of index: Int) -> some Sequence<Int> {
        let (step, end) = (entries[index].kind == .objectStart ? 1 : 0, Int(entries[index].next))
        return sequence(state: index + 1) { [entries] place -> Int? in
            guard place < end else { return nil }
            defer { place = Int(entries[place + step].next) }
            return place
        }
    }

    /// Returns the range of a value's text, including quotes.
    package func range(of index: Int) -> Range<Int> {
        let entry = entries[index]
        let quotes = entry.kind == .string ? 1 : 0
        return Int(entry.start) - quotes..<Int(entry.end) + quotes
    }

    package func isObject(_ index: Int) -> Bool { entries[index].kind == .objectStart }
    package func isNull(_ index: Int) -> Bool { entries[index].kind == .null }

    /// Returns the value of the last member with this name.
    package func lastMember(_ name: String, of index: Int) -> Int? {
        var last: Int?
        forEachMember(name, of: index) { value in
            last = value
            return true
        }
        return last
    }

    /// Returns the values of the last members with three names, found in one pass.
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

    /// Returns the text of a string.
    ///
    /// Invalid Unicode becomes U+FFFD.
    package func repairedString(at index: Int) -> String {
        let entry = entries[index]
        return withText { text in
            let written = text[Int(entry.start)..<Int(entry.end)]
            return entry.hasEscapes ? JSONText.unescaped(Array(written)[...]) : String(decoding: written, as: UTF8.self)
        }
    }

    /// Returns the value of the first member with this name.
    func member(_ name: String, of index: Int) -> Int? {
        var first: Int?
        forEachMember(name, of: index) { value in
            first = value
            return false
        }
        return first
    }

    /// Finds the members with this name.
    ///
    /// - Parameter shouldContinue: A function that takes the value of each member, and returns whether to continue.
    private func forEachMember(_ name: String, of index: Int, _ shouldContinue: (Int) -> Bool) {
        var name = name
        name.withUTF8 { name in
            withText { text in
                let end = Int(entries[index].next)
                var place = index + 1
                while place < end {
                    if isName(place, name, text), !shouldContinue(place + 1) { return }
                    place = Int(entries[place + 1].next)
                }
            }
        }
    }

    private func isName(_ place: Int, _ name: UnsafeBufferPointer<UInt8>, _ text: UnsafeRawBufferPointer) -> Bool {
        let entry = entries[place]
        let count = Int(entry.end - entry.start)
        if entry.hasEscapes {
            // An escape has at most six bytes for each byte of text.
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
    /// Returns the unescaped text of a string, name or number.
    ///
    /// An unpaired surrogate becomes U+FFFD.
    ///
    /// - Throws: `DecodingError` if the text isn't valid UTF-8.
    func string(at index: Int) throws -> String {
        guard let string = unicode(at: index) else { throw corrupted(index, "the text is not valid Unicode") }
        return string
    }

    /// Returns the unescaped text of an entry, or `nil` if it isn't valid UTF-8.
    private func unicode(at index: Int) -> String? {
        let entry = entries[index]
        return withText { text -> String? in
            let written = UnsafeRawBufferPointer(rebasing: text[Int(entry.start)..<Int(entry.end)])
            guard entry.hasEscapes else { return String(unicode: written.assumingMemoryBound(to: UInt8.self)) }
            return JSONText.bytes(of: Array(written)[...]).withUnsafeBufferPointer { String(unicode: $0) }
        }
    }

    /// Checks the names of an object.
    ///
    /// - Throws: `DecodingError` if a name isn't valid UTF-8.
    func checkNames(of index: Int) throws {
        guard entries[index].hasEscapes else { return }
        for name in children(of: index) { _ = try string(at: name) }
    }

    /// Returns the number if it is written without fraction and exponent and fits the type, otherwise `nil`.
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

    /// Returns the text of a number, literal or string as it is written, without quotes.
    func raw(at index: Int) -> Data {
        let start = text.startIndex
        return text[start + Int(entries[index].start)..<start + Int(entries[index].end)]
    }

    /// Returns the error for a value of another type.
    func mismatch(_ type: Any.Type, at index: Int) -> DecodingError {
        let found = entries[index].kind.words
        let context = DecodingError.Context(
            codingPath: path(to: index),
            debugDescription: "expected \(type), found \(found)"
        )
        return entries[index].kind == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// Returns the error for a value that can't be decoded. The reason must not quote the value.
    func corrupted(_ index: Int, _ reason: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path(to: index), debugDescription: reason))
    }
}

extension String {
    /// Creates text from UTF-8, or returns `nil` if the bytes are invalid.
    fileprivate init?(unicode bytes: UnsafeBufferPointer<UInt8>) {
        // Validating always would be slower: `String` looks up types at each call.
        if bytes.isASCII {
            self.init(decoding: bytes, as: UTF8.self)
        } else {
            self.init(validating: bytes, as: UTF8.self)
        }
    }
}

extension Collection<UInt8> {
    /// Whether all bytes are ASCII. Examines all of them without early exit, so that the loop can be vectorized.
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

/// A step of a coding path: the name of a member or the index of an element.
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

extension JSONTape {
    private struct Writer: JSONScanner.Visitor {
        var entries: [JSONTape.Entry] = []
        private var parent = 0
        private let bytes: UnsafeBufferPointer<UInt8>
        /// The number of open containers, and the maximum for recorded values.
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
}
