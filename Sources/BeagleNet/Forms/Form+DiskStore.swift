public import BeagleNetHTTP
public import BeagleNetRequestBuilder

extension Form {
    /// A form store that keeps each group in a JSON file of its own, readable only by its owner.
    ///
    /// A new file is written beside the old one and replaces it when it is complete. If a file is damaged nevertheless,
    /// reading it throws an error instead of returning an empty group, because a form would be sent without its earlier
    /// values. Clear the group to start over.
    public final class DiskStore: Store {
        private let directory: String
        /// Held during a read and the write that follows, so that no fields are lost between them.
        private let files = Lock(())

        /// Creates a store.
        ///
        /// - Parameter directory: The directory of the files. It is created if it doesn't exist, accessible only to its
        ///   owner (mode 0700).
        public init(directory: String) {
            self.directory = directory
        }

        /// Returns the stored fields of a group.
        ///
        /// - Throws: `NetworkError` of kind `.file` if the file can't be read, `.decoding` if it is damaged.
        public func fields(of group: String) throws(NetworkError) -> [FormField] {
            let file = try file(of: group)
            return try files.withLock { _ throws(NetworkError) in try Self.read(file, group) }
        }

        /// Stores fields in a group.
        ///
        /// - Throws: `NetworkError` of kind `.file` if the file can't be written, `.decoding` if the existing file is
        ///   damaged.
        public func save(_ fields: [FormField], replacing names: Set<String>, in group: String) throws(NetworkError) {
            let file = try file(of: group)
            try files.withLock { _ throws(NetworkError) in
                let kept = try Self.read(file, group).filter { !names.contains($0.name) } + fields
                let json = JSONValue.array(kept.map { ["name": .string($0.name), "value": $0.value] })
                try PrivateFile.makeDirectory(directory)
                try file.write(try JSONValue.object(["fields": json]).text(.pretty))
            }
        }

        /// Deletes a group, even if it is damaged.
        ///
        /// - Throws: `NetworkError` of kind `.file` if the file can't be removed.
        public func clear(_ group: String) throws(NetworkError) {
            let file = try file(of: group)
            try files.withLock { _ throws(NetworkError) in try file.remove() }
        }

        private static func read(_ file: PrivateFile, _ group: String) throws(NetworkError) -> [FormField] {
            if !file.exists { return [] }
            let text = try file.read()
            let value: JSONValue
            do {
                value = try JSONValue(parsing: text)
            } catch {
                throw .damaged(file, group)
            }
            guard let fields = value["fields"]?.array else { throw .damaged(file, group) }
            return try fields.map { field throws(NetworkError) in
                guard let name = field["name"]?.string, let value = field["value"] else { throw .damaged(file, group) }
                return FormField(name, value)
            }
        }

        /// Returns the file of a group; any byte of its name but a lowercase letter, a digit, `-` or `_` becomes `%XX`.
        private func file(of group: String) throws(NetworkError) -> PrivateFile {
            var name = ""
            for byte in group.utf8 {
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                    UInt8(ascii: "_"):
                    name.unicodeScalars.append(Unicode.Scalar(byte))
                default: name += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
                }
            }
            // With ".json" and the suffix of the part, a file name stays within 255 bytes.
            guard (1...200).contains(name.utf8.count) else {
                throw NetworkError(
                    .badConfiguration,
                    during: .build,
                    "the name of the form group is \(group.utf8.count) bytes long",
                    advice: "use a name of 1 to 66 bytes"
                )
            }
            return PrivateFile("\(name).json", in: ConfinedFolder(path: directory))
        }
    }
}

extension NetworkError {
    fileprivate static func damaged(_ file: PrivateFile, _ group: String) -> NetworkError {
        NetworkError(
            .decoding,
            during: .build,
            "the form group \(group) in \(file.path) is damaged",
            advice: "clear the group; its saved values are lost"
        )
    }
}
