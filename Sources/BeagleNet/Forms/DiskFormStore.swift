public import BeagleNetHTTP
public import BeagleNetRequestBuilder

/// Keeps each group in a JSON file of its own, which only its owner may read.
///
/// A file is written beside the one that is there and takes its place when it is whole. One that is damaged all the same
/// is an error, not an empty group: a form would be sent without what was filled in before. Clear it to begin anew.
public final class DiskFormStore: FormStore {
    private let directory: String
    /// Held while files are read and written: what is added to a group is added to what it is then.
    private let files = Lock(())

    /// A store.
    ///
    /// - Parameter directory: where the files are. It is made where it is not there, for its owner alone (mode 0700).
    public init(directory: String) {
        self.directory = directory
    }

    /// What is kept in a group.
    ///
    /// - Throws: `NetworkError` of kind `.file` where the file cannot be read, `.decoding` where it is damaged.
    public func fields(of group: String) throws(NetworkError) -> [FormField] {
        let file = try file(of: group)
        return try files.withLock { _ throws(NetworkError) in try Self.read(file, group) }
    }

    /// Puts fields into a group.
    ///
    /// - Throws: `NetworkError` of kind `.file` where it cannot be written, `.decoding` where what is there is damaged.
    public func keep(_ fields: [FormField], insteadOf names: Set<String>, in group: String) throws(NetworkError) {
        let file = try file(of: group)
        try files.withLock { _ throws(NetworkError) in
            let kept = try Self.read(file, group).filter { !names.contains($0.name) } + fields
            let json = JSONValue.array(kept.map { ["name": .string($0.name), "value": $0.value] })
            try PrivateFile.makeDirectory(directory)
            try file.write(try JSONValue.object(["fields": json]).text(.pretty))
        }
    }

    /// Forgets a group, a damaged one too.
    ///
    /// - Throws: `NetworkError` of kind `.file` where the file cannot be removed.
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

    /// Any name is a file's: what is not a small letter, a digit, `-` or `_` becomes the `%XX` of its bytes.
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
        // With ".json" and the ending of the part a file name's 255 bytes are not passed.
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
