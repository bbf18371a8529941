#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The file from which ftp, curl and git read passwords
/// (https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html).
package enum Netrc {
    /// Returns the credentials for a host from a file, or `nil` if the file has none.
    ///
    /// - Parameter path: The path of the file, or `nil` for `.netrc` in the home directory.
    /// - Throws: `NetworkError` of kind `.file` if the file can't be read.
    static func credentials(for host: String, in path: String?) throws(NetworkError) -> Credentials? {
        let file = if let path { path } else { try defaultPath() }
        return credentials(for: host, of: try PrivateFile(path: file).read())
    }

    private static func defaultPath() throws(NetworkError) -> String {
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

    /// Returns the credentials for a host from the text of a file.
    ///
    /// Uses the first entry that names the host or is the `default`, and has a login or password.
    package static func credentials(for host: String, of text: String) -> Credentials? {
        var words = Words(rest: Array(text.utf8)[...])
        var isMatch = false
        var found: (user: String?, password: String?)
        while let word = words.nextKeyword() {
            switch word {
            case "machine", "default":
                if found.user != nil || found.password != nil { return Credentials(found) }
                isMatch = word == "default" || words.next().map(HostName.normalized) == host
            case "login":
                let user = words.next()
                if isMatch { found.user = user }
            case "password":
                let password = words.next()
                if isMatch { found.password = password }
            case "account": _ = words.next()
            case "macdef": words.skipMacro()
            default: break
            }
        }
        return found.user == nil && found.password == nil ? nil : Credentials(found)
    }

    /// Words separated by white space. A quoted word may contain white space and backslash escapes.
    private struct Words {
        var rest: ArraySlice<UInt8>

        /// Returns the next keyword. Comments are allowed only where a keyword may stand.
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

        /// Skips a macro, which ends at an empty line.
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
