/// A word of a POSIX shell command, quoted so that the command receives exactly the original text.
package struct ShellWord: Sendable, Hashable {
    /// A part of a word.
    package enum Part: Sendable, Hashable {
        case text(String)
        /// The value of a shell variable. If it isn't set, the command fails with the variable's name.
        case variable(String)
    }

    /// The quoted word.
    package let text: String

    /// Creates a word from text, with quotes if necessary. The text must not contain NUL, which no argument can.
    package init(_ text: String) {
        self.init([.text(text)])
    }

    /// Creates a word from several parts.
    package init(_ parts: [Part]) {
        let words = parts.map { part in
            switch part {
            case .text(let text): Self.quoted(text)
            case .variable(let name): "\"${\(name):?}\""
            }
        }.joined()
        text = words.isEmpty ? "''" : words
    }

    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: "-._/:@%+=,".utf8.contains(byte)
            }
        }
        guard !isPlain else { return text }
        let parts = text.unicodeScalars.split(separator: "'", omittingEmptySubsequences: false)
        return "'\(parts.map(String.init).joined(separator: "'\\''"))'"
    }
}
