/// A fast check for complete JSON that contains no secrets, as most JSON does.
///
/// JSON that the check doesn't understand immediately, or that would need context, is left to `JSONScan`. A negative
/// result therefore means nothing. It has its own structure, because it was 13 to 15 % slower as a visitor of
/// `JSONScanner`.
struct CleanJSONCheck {
    private let redactor: Redactor
    private let bytes: [UInt8]
    /// The nesting depth for texts within this JSON.
    private let depth: Int
    private var place: Int
    private var containers = OpenContainers()
    /// The positions of names already known to be harmless, in a table indexed by a hash of the name; 0 means empty.
    /// Objects in a list usually have the same names.
    private var known = [UInt16](repeating: 0, count: 64)

    /// Returns whether the bytes are one object or array, optionally surrounded by whitespace, in which nothing must be
    /// replaced.
    static func isClean(_ redactor: Redactor, _ bytes: [UInt8], depth: Int) -> Bool {
        guard bytes.count <= TextScan.window else { return false }
        var json = CleanJSONCheck(redactor: redactor, bytes: bytes, depth: depth, place: 0)
        return bytes.withUnsafeBufferPointer { json.take($0) }
    }

    private init(redactor: Redactor, bytes: [UInt8], depth: Int, place: Int) {
        self.redactor = redactor
        self.bytes = bytes
        self.depth = depth
        self.place = place
    }

    private mutating func take(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = next(bytes), first == UInt8(ascii: "{") || first == UInt8(ascii: "["), open(first, bytes)
        else { return false }
        while containers.count > 0 {
            guard let byte = next(bytes) else { return false }
            switch byte {
            case UInt8(ascii: "}"), UInt8(ascii: "]"): guard close(byte) else { return false }
            case UInt8(ascii: ","): guard element(bytes) else { return false }
            default: return false
            }
        }
        return next(bytes) == nil
    }

    /// Reads the next byte that isn't whitespace; `nil` at the end.
    private mutating func next(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt8? {
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            if byte > 0x20 || !byte.isJSONSpace { return byte }
        }
        return nil
    }

    /// Reads the beginning of a container and its first element.
    private mutating func open(_ byte: UInt8, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard containers.count < 64 else { return false }
        let isObject = byte == UInt8(ascii: "{")
        let isInArray = containers.count > 0 && !containers.isObject
        containers.append(isObject: isObject)
        let start = place
        guard let byte = next(bytes) else { return false }
        if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") { return close(byte) }
        place = start
        return element(bytes, mayBeginPair: !isObject && isInArray)
    }

    private mutating func close(_ byte: UInt8) -> Bool {
        guard byte == (containers.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { return false }
        containers.removeLast()
        return true
    }

    /// Reads a member of an object or an element of an array. If it is a container, reads only its beginning.
    ///
    /// - Parameter mayBeginPair: Whether it is the first element of a nested array: `[["token", "x"]]`.
    private mutating func element(_ bytes: UnsafeBufferPointer<UInt8>, mayBeginPair: Bool = false) -> Bool {
        if containers.isObject {
            guard next(bytes) == UInt8(ascii: "\""), isName(bytes), next(bytes) == UInt8(ascii: ":") else {
                return false
            }
        }
        guard let byte = next(bytes) else { return false }
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return open(byte, bytes)
        case UInt8(ascii: "\""):
            let start = place
            guard isText(bytes) else { return false }
            return !mayBeginPair || !mayNameSecret(start..<place - 1)
        default:
            place -= 1
            guard let literal = JSONGrammar.literal(byte) else { return isNumber(bytes) }
            defer { place += literal.text.utf8CodeUnitCount }
            return JSONGrammar.has(literal.text, bytes, at: place)
        }
    }

    /// Reads the rest of a member's name, and returns whether it is harmless for its value and neighboring values.
    private mutating func isName(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let name = place..<JSONText.endOfPlain(bytes, from: place)
        place = name.upperBound + 1
        guard place <= bytes.count, bytes[name.upperBound] == UInt8(ascii: "\"") else { return false }
        let slot = (name.count &* 31 &+ Int(bytes[name.lowerBound]) &+ Int(bytes[place - 2]) &* 7) & (known.count - 1)
        // Includes the closing quote; otherwise the beginning of a longer name would match.
        if known[slot] > 0, bytes.areEqual(name.count + 1, at: name.lowerBound, andBefore: Int(known[slot])) {
            return true
        }
        let meaning = redactor.meaning(of: self.bytes[name])
        guard !meaning.isSecret, meaning.isDisjoint(with: [.key, .state, .document, .named]),
            redactor.textEdits(self.bytes, in: name, rules: [], depth: depth).isEmpty
        else { return false }
        known[slot] = UInt16(name.lowerBound)
        return true
    }

    /// Returns whether a string may be the name of a secret that follows it.
    private func mayNameSecret(_ text: Range<Int>) -> Bool {
        bytes[text].contains(UInt8(ascii: "\\")) || redactor.isSecretName(bytes[text])
    }

    /// Reads the rest of a string, and returns whether it may stay unchanged.
    private mutating func isText(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let start = place
        var hasEscapes = false
        while true {
            let end = JSONText.endOfPlain(bytes, from: place)
            guard end < bytes.count else { return false }
            place = end + 1
            if bytes[end] == UInt8(ascii: "\"") { return isHarmless(start..<end, hasEscapes: hasEscapes) }
            guard bytes[end] == UInt8(ascii: "\\"), isEscape(bytes) else { return false }
            hasEscapes = true
        }
    }

    private func isHarmless(_ text: Range<Int>, hasEscapes: Bool) -> Bool {
        if text.count < 3 || TextScan.isHarmless(bytes, text) { return true }
        if !hasEscapes { return redactor.valueEdits(bytes, in: text, rules: .all, depth: depth + 1).isEmpty }
        let decoded = DecodedText(bytes, text, .json).bytes
        return redactor.valueEdits(decoded, in: 0..<decoded.count, rules: .all, depth: depth + 1).isEmpty
    }

    /// Reads the rest of an escape, and returns whether it is valid.
    private mutating func isEscape(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let (end, isValid) = JSONGrammar.escape(bytes, from: place)
        place = end
        return isValid
    }

    /// Reads a number, and returns whether it is harmless.
    private mutating func isNumber(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let start = place
        let (end, result) = JSONGrammar.number(bytes, from: start)
        place = end
        guard result == .valid else { return false }
        return end - start < TokenPrefix.minCount
            || redactor.textEdits(self.bytes, in: start..<end, rules: [], depth: depth).isEmpty
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns whether the given number of bytes are equal at two positions. Compares eight bytes at a time.
    @inline(__always)
    fileprivate func areEqual(_ count: Int, at place: Int, andBefore earlier: Int) -> Bool {
        let bytes = UnsafeRawBufferPointer(self)
        func difference(at offset: Int) -> UInt64 {
            bytes.loadUnaligned(fromByteOffset: place + offset, as: UInt64.self)
                ^ bytes.loadUnaligned(fromByteOffset: earlier + offset, as: UInt64.self)
        }
        if count < 8 {
            if place + 8 <= self.count { return difference(at: 0).littleEndian << UInt64(64 - 8 * count) == 0 }
            return (0..<count).allSatisfy { self[place + $0] == self[earlier + $0] }
        }
        var offset = 0
        while offset + 8 < count {
            guard difference(at: offset) == 0 else { return false }
            offset += 8
        }
        // Some of the last eight bytes have already been compared.
        return difference(at: count - 8) == 0
    }
}
