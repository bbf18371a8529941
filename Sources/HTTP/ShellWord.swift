/// A word of a command for a POSIX shell, which hands on what it was made of, whatever that holds.
package struct ShellWord: Sendable, Hashable {
    /// A part of a word.
    package enum Part: Sendable, Hashable {
        case text(String)
        /// What a variable of the shell holds; one that is not set ends the command with its name.
        case variable(String)
    }

    /// As it is written.
    package let text: String

    /// A word of text: quoted where a shell could read more into it. No argument of a program can hold a NUL.
    package init(_ text: String) {
        self.init([.text(text)])
    }

    /// A word of several parts.
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
