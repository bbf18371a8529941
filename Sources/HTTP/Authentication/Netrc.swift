#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The file in which ftp, curl and git look for passwords
/// (https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html).
package enum Netrc {
    /// What a file says of a host; nil where it says nothing.
    ///
    /// - Parameter path: `.netrc` in the home folder where nil.
    /// - Throws: `NetworkError` of kind `.file` where it cannot be read.
    static func credentials(for host: String, in path: String?) throws(NetworkError) -> Credentials? {
        let file = if let path { path } else { try usual() }
        return credentials(for: host, of: try PrivateFile(path: file).read())
    }

    private static func usual() throws(NetworkError) -> String {
        guard let home = getenv("HOME") else {
            throw NetworkError(
                .file,
                during: .build,
                "cannot find .netrc because HOME is not set",
                advice: "set HOME, or pass the path of the file"
            )
        }
        return String(cString: home) + "/.netrc"
    }

    /// What a text says of a host: the first entry that names it or is the `default`, and has a login or password.
    package static func credentials(for host: String, of text: String) -> Credentials? {
        var words = Words(rest: Array(text.utf8)[...])
        var isMeant = false
        var found: (user: String?, password: String?)
        while let word = words.nextKeyword() {
            switch word {
            case "machine", "default":
                if found.user != nil || found.password != nil { return Credentials(found) }
                isMeant = word == "default" || words.next().map(HostName.comparable) == host
            case "login":
                let user = words.next()
                if isMeant { found.user = user }
            case "password":
                let password = words.next()
                if isMeant { found.password = password }
            case "account": _ = words.next()
            case "macdef": words.skipMacro()
            default: break
            }
        }
        return found.user == nil && found.password == nil ? nil : Credentials(found)
    }

    /// Words between white space; in quotes they may hold it, and `\` stands before what is meant as it is.
    private struct Words {
        var rest: ArraySlice<UInt8>

        /// A comment stands only where a keyword may.
        mutating func nextKeyword() -> String? {
            while true {
                rest = rest.drop(while: isSpace)
                guard rest.first == UInt8(ascii: "#") else { return next() }
                rest = rest.drop { $0 != UInt8(ascii: "\n") }
            }
        }

        mutating func next() -> String? {
            rest = rest.drop(while: isSpace)
            guard let first = rest.first else { return nil }
            if first == UInt8(ascii: "\"") { return quoted() }
            let word = rest.prefix { !isSpace($0) }
            rest = rest[word.endIndex...]
            return String(decoding: word, as: UTF8.self)
        }

        private mutating func quoted() -> String {
            rest.removeFirst()
            var word: [UInt8] = []
            while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
                guard byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
                    word.append(byte)
                    continue
                }
                switch escaped {
                case UInt8(ascii: "n"): word.append(UInt8(ascii: "\n"))
                case UInt8(ascii: "r"): word.append(UInt8(ascii: "\r"))
                case UInt8(ascii: "t"): word.append(UInt8(ascii: "\t"))
                default: word.append(escaped)
                }
            }
            return String(decoding: word, as: UTF8.self)
        }

        /// Up to an empty line.
        mutating func skipMacro() {
            var wasEnd = false
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: "\n") {
                    if wasEnd { return }
                    wasEnd = true
                } else if byte != UInt8(ascii: "\r") {
                    wasEnd = false
                }
            }
        }

        private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    }
}

extension Credentials {
    fileprivate init(_ found: (user: String?, password: String?)) {
        self.init(user: found.user ?? "", password: found.password ?? "")
    }
}
