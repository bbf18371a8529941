import BeagleNetHTTP
import Foundation

/// The files of bodies that are too large for the database, in the folder of a store.
struct BodyFiles: Sendable {
    private static let ending = ".body"

    private let folder: PrivateFolder
    private let files: ConfinedFolder

    init(path: String) {
        folder = PrivateFolder(path: path)
        files = ConfinedFolder(path: path)
    }

    /// Writes a body to a new file, which is complete and on the disk when this method returns.
    ///
    /// - Returns: The name of the file.
    func write(_ body: Data) throws(NetworkError) -> String {
        let name = Hexadecimal.text(KeyDigests.randomBytes(16)) + Self.ending
        let sink = try FileSink(name, in: files)
        try sink.write(body)
        try sink.sync()
        try sink.commit()
        try files.sync()
        return name
    }

    /// Reads a body.
    ///
    /// - Returns: `nil` if the file doesn't exist or has another size.
    func read(_ name: String, count: Int) throws(NetworkError) -> Data? {
        guard let status = files.status(of: name), status.isRegular, status.bytes == count else { return nil }
        do throws(NetworkError) {
            let body = try files.file(reading: name).contents(upTo: count)
            return body.count == count ? body : nil
        } catch {
            // Another process may have evicted the response in the meantime.
            if files.status(of: name) == nil { return nil }
            throw error
        }
    }

    /// Removes files of responses that aren't stored any more.
    func remove(_ names: [String]) throws(NetworkError) {
        for name in names { try files.remove(name) }
    }

    /// Removes files that no response has, and files that weren't completed.
    ///
    /// - Parameters:
    ///   - used: Returns the files that responses have.
    ///   - seconds: The minimum age of the files to remove. Another process may still store the response of younger
    ///     ones.
    func removeUnused(olderThan seconds: Int, used: () throws -> Set<String>) throws {
        try folder.removeParts(olderThan: seconds)
        let now = Int(Date().timeIntervalSince1970)
        let old = try folder.names().filter { name in
            guard name.hasSuffix(Self.ending), let status = files.status(of: name), status.isRegular else {
                return false
            }
            return now - status.written > seconds
        }
        if old.isEmpty { return }
        let used = try used()
        try remove(old.filter { !used.contains($0) })
    }
}
