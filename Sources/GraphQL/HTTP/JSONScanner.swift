import BeagleNetHTTP

/// Goes over one JSON text that is whole and in UTF-8, and checks its grammar (RFC 8259), without making anything of it: for
/// messages of which only a few words and the place of the payload are wanted.
struct JSONScanner {
    /// Where text is, without its quotes.
    struct Text {
        let range: Range<Int>
        let hasEscapes: Bool
    }

    /// Valid as long as whoever has made the scanner sees to it.
    private let bytes: UnsafeBufferPointer<UInt8>
    private(set) var index = 0
    private var open = OpenContainers()

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// Passes over what some servers write in front of a text.
    mutating func passByteOrderMark() {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
    }

    /// The next byte that is no space; nil at the end.
    mutating func peek() -> UInt8? {
        while index < bytes.count {
            let byte = bytes[index]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            index += 1
        }
        return nil
    }

    /// Passes over this byte.
    mutating func take(_ byte: Unicode.Scalar, _ reason: @autoclosure () -> String) throws(JSONFault) {
        guard peek() == UInt8(ascii: byte) else { throw fault(reason()) }
        index += 1
    }

    /// Whether this byte came next, which was passed over then.
    mutating func has(_ byte: Unicode.Scalar) -> Bool {
        guard peek() == UInt8(ascii: byte) else { return false }
        index += 1
        return true
    }

    func fault(_ reason: String) -> JSONFault {
        JSONFault(offset: index, reason: reason)
    }

    /// The text that begins here.
    mutating func text() throws(JSONFault) -> Text {
        try take("\"", "text in quotes should be here")
        let start = index
        var hasEscapes = false
        while true {
            index = JSONText.endOfPlain(bytes, from: index)
            guard index < bytes.count else { throw tooEarly }
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index += 1
                return Text(range: start..<index - 1, hasEscapes: hasEscapes)
            case UInt8(ascii: "\\"):
                index += 1
                hasEscapes = true
                try passEscape()
            default: throw fault("a control character in text must be escaped")
            }
        }
    }

    /// What text means.
    func string(_ text: Text) -> String {
        let written = bytes[text.range]
        return text.hasEscapes ? JSONText.unescaped(Array(written)[...]) : String(decoding: written, as: UTF8.self)
    }

    /// Goes over the object that begins here.
    ///
    /// - Parameter read: is given the name of each member, and goes over its value.
    mutating func object(_ read: (inout JSONScanner, _ name: Text) throws(JSONFault) -> Void) throws(JSONFault) {
        try take("{", "an object should be here")
        if has("}") { return }
        repeat {
            let name = try text()
            try take(":", "a colon should be here")
            try read(&self, name)
        } while has(",")
        try take("}", "a comma or the end of the object should be here")
    }

    /// Sees to it that nothing is left.
    mutating func finish() throws(JSONFault) {
        guard peek() == nil else { throw fault("text after the end of the value") }
    }

    private var tooEarly: JSONFault { fault("the text ends too early") }

    private mutating func passEscape() throws(JSONFault) {
        guard index < bytes.count else { throw tooEarly }
        switch bytes[index] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            index += 1
        case UInt8(ascii: "u"):
            guard index + 4 < bytes.count else { throw tooEarly }
            for digit in bytes[index + 1...index + 4] where !Character(Unicode.Scalar(digit)).isHexDigit {
                throw fault("a hexadecimal digit should be here")
            }
            index += 5
        default: throw fault("unknown escape")
        }
    }

    /// Passes over the value that begins here.
    ///
    /// - Returns: where it is.
    mutating func value() throws(JSONFault) -> Range<Int> {
        _ = peek()
        let start = index
        let depth = open.count
        var isDue = true
        repeat {
            if isDue {
                isDue = try beginValue()
            } else if has(",") {
                if open.isObject { try name() }
                isDue = true
            } else {
                let isObject = open.isObject
                try take(
                    isObject ? "}" : "]",
                    "a comma or the end of the \(isObject ? "object" : "array") should be here"
                )
                open.removeLast()
            }
        } while isDue || open.count > depth
        return start..<index
    }

    /// - Returns: whether another value has to follow, as of a container that was opened.
    private mutating func beginValue() throws(JSONFault) -> Bool {
        switch peek() {
        case UInt8(ascii: "{"):
            try open(isObject: true)
            if has("}") {
                open.removeLast()
                return false
            }
            try name()
            return true
        case UInt8(ascii: "["):
            try open(isObject: false)
            if has("]") {
                open.removeLast()
                return false
            }
            return true
        case UInt8(ascii: "\""): _ = try text()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        case nil: throw tooEarly
        default: try number()
        }
        return false
    }

    private mutating func open(isObject: Bool) throws(JSONFault) {
        guard open.count < JSONValue.depthLimit else {
            throw fault("nested deeper than \(JSONValue.depthLimit) containers")
        }
        open.append(isObject)
        index += 1
    }

    private mutating func name() throws(JSONFault) {
        _ = try text()
        try take(":", "a colon should be here")
    }

    private mutating func word(_ word: StaticString) throws(JSONFault) {
        let count = word.utf8CodeUnitCount
        guard index + count <= bytes.count,
            word.withUTF8Buffer({ $0.elementsEqual(bytes[index..<index + count]) })
        else { throw fault("no value begins like this") }
        index += count
    }

    private mutating func number() throws(JSONFault) {
        let start = index
        if index < bytes.count, bytes[index] == UInt8(ascii: "-") { index += 1 }
        let first = index
        try digits(start == first ? "no value begins like this" : "a digit should be here")
        if bytes[first] == UInt8(ascii: "0"), index > first + 1 {
            index = first + 1
            throw fault("text after the end of the value")
        }
        if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
            index += 1
            try digits("a digit should be here")
        }
        guard index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") else { return }
        index += 1
        if index < bytes.count, bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") { index += 1 }
        try digits("a digit should be here")
    }

    private mutating func digits(_ reason: String) throws(JSONFault) {
        let start = index
        while index < bytes.count, (0x30...0x39).contains(bytes[index]) { index += 1 }
        guard index > start else { throw fault(reason) }
    }
}

/// Which of the containers around a place are objects, as bits: the innermost last.
private struct OpenContainers {
    private(set) var count = 0
    private var bits: UInt64 = 0
    /// Those outside of the innermost 64, or fewer.
    private var outer: [UInt64] = []

    var isObject: Bool { bits & 1 == 1 }

    mutating func append(_ isObject: Bool) {
        if count > 0, count.isMultiple(of: 64) { outer.append(bits) }
        bits = bits << 1 | (isObject ? 1 : 0)
        count += 1
    }

    mutating func removeLast() {
        bits >>= 1
        count -= 1
        if count.isMultiple(of: 64), let last = outer.popLast() { bits = last }
    }
}
