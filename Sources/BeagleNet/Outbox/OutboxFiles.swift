import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The directory of an outbox, with one file for each entry, named by its number and identifier.
///
/// Pending entries are in the directory itself, refused ones in `refused`, and damaged ones in `damaged`. A file is
/// written atomically, moved in one step, and never changed, so that the directory is valid even after the process was
/// killed. A file that can't be read, such as one in a newer format, stays in place and doesn't block the others.
final class OutboxFiles: Sendable {
    /// A file whose content was read once.
    struct File: Sendable {
        let name: String
        let number: UInt64
        let isRefused: Bool
        let entry: Outbox.Entry

        fileprivate func isBefore(_ other: File) -> Bool { (number, name) < (other.number, other.name) }
    }

    /// The problems that were found with files.
    ///
    /// Reading them doesn't wait for the disk.
    struct Notes: Sendable {
        /// The errors that no report has listed yet.
        var damages: [NetworkError] = []
        /// The errors that weren't logged yet.
        var unlogged: [NetworkError] = []
    }

    struct Index: Sendable {
        fileprivate var waiting: [String: File] = [:]
        fileprivate var refused: [String: File] = [:]
        fileprivate var lastNumber: UInt64 = 0
        /// The paths of files that can't be read and stay in place.
        fileprivate var skipped: Set<String> = []
        /// The problems that were found while reading.
        fileprivate let notes: Lock<Notes>

        fileprivate var nextNumber: UInt64 { max(lastNumber, waiting.values.map(\.number).max() ?? 0) + 1 }
        fileprivate var inOrder: [File] {
            waiting.values.sorted { $0.isBefore($1) } + refused.values.sorted { $0.isBefore($1) }
        }

        fileprivate func report(_ error: NetworkError) {
            notes.withLock { notes in
                notes.damages.append(error)
                notes.unlogged.append(error)
            }
        }
    }

    /// The maximum size of a file that is read into memory, whatever size its header declares, in bytes.
    private static let maxBytesRead = 1 << 30
    private static let ending = ".entry"
    private static let lock = "send.lock"
    private let folder: PrivateFolder
    private let refusals: PrivateFolder
    private let damages: PrivateFolder
    private let limits: Outbox.Limits
    /// The key that encrypts files; `nil` for clear text.
    private let key: Outbox.Key?
    private let notes: Lock<Notes>
    /// The entries, locked while files are read and written.
    ///
    /// Blocking is acceptable here: a caller that needs the lock is about to use the disk.
    let index: Lock<Index>

    init(directory: String, limits: Outbox.Limits, key: Outbox.Key?) {
        folder = PrivateFolder(path: directory)
        refusals = PrivateFolder("refused", in: folder)
        damages = PrivateFolder("damaged", in: folder)
        self.limits = limits
        self.key = key
        let notes = Lock(Notes())
        self.notes = notes
        index = Lock(Index(notes: notes))
    }

    // MARK: - What there is

    /// Returns the pending entries in order.
    func waiting() throws(NetworkError) -> [File] {
        try index.withLock { index throws(NetworkError) in
            try refresh(&index)
            return index.waiting.values.sorted { $0.isBefore($1) }
        }
    }

    /// Returns the pending entries, followed by the refused ones.
    func all() throws(NetworkError) -> [File] {
        try index.withLock { index throws(NetworkError) in
            try refresh(&index)
            return index.inOrder
        }
    }

    /// Returns the entries, and errors for other files, without changing anything.
    func look() throws(NetworkError) -> (files: [File], damages: [NetworkError]) {
        var index = Index(notes: Lock(Notes()))
        try refresh(&index, moves: false)
        let moved = try damages.names().sorted().map { name in
            NetworkError.damaged("\(damages.path)/\(name)", "it was moved aside")
        }
        return (index.inOrder, index.notes.withLock { $0.damages } + moved)
    }

    /// Reads the message of a file.
    ///
    /// - Throws: A `NetworkError` of kind `.decoding` if the file was damaged in the meantime; it is then moved aside.
    func message(of file: File) throws(NetworkError) -> OutboxMessage {
        do throws(NetworkError) {
            let folder = file.isRefused ? refusals : folder
            return try OutboxMessage(try data(file.name, in: folder), path: "\(folder.path)/\(file.name)", key)
        } catch {
            if error.kind == .decoding {
                index.withLock { quarantine(file.name, in: file.isRefused ? refusals : folder, error, &$0) }
            }
            throw error
        }
    }

    /// Returns and clears the errors for files that were found since the last call.
    func takeDamages() -> [NetworkError] {
        notes.withLock { notes in
            defer { notes.damages = [] }
            return notes.damages
        }
    }

    /// Records an error that doesn't fail any caller, for the log.
    func note(_ error: NetworkError) {
        notes.withLock { notes in
            if notes.unlogged.last?.message != error.message { notes.unlogged.append(error) }
        }
    }

    /// Returns and clears the errors to log.
    func takeUnlogged() -> [NetworkError] {
        notes.withLock { notes in
            defer { notes.unlogged = [] }
            return notes.unlogged
        }
    }

    // MARK: - Changes

    /// Writes an entry behind all others, unless the same entry exists.
    ///
    /// - Returns: The entry's file, and whether no pending or refused entry had its identifier.
    func write(_ message: OutboxMessage) throws(NetworkError) -> (file: File, isNew: Bool) {
        let (id, data) = (try message.id(), try message.encoded(key))
        guard data.count <= limits.maxEntryBytes else { throw .outboxEntryTooLarge(limits) }
        return try index.withLock { index throws(NetworkError) in
            try refresh(&index)
            if let there = index.waiting.values.first(where: { $0.entry.id == id }),
                let kept = try self.message(there, &index)
            {
                guard kept.hasSameContent(as: message) else { throw .otherMessage }
                return (there, false)
            }
            let refused = index.refused.values.first { $0.entry.id == id }
            let files = Array(index.waiting.values) + index.refused.values.filter { $0.name != refused?.name }
            let bytes = files.reduce(data.count) { $0 + $1.entry.bytes }
            guard files.count < limits.maxEntries, bytes <= limits.maxBytes else {
                throw .full(folder.path, files.count)
            }
            try make()
            let entry = Outbox.Entry(message, id: id, bytes: data.count, state: .waiting)
            let number = index.nextNumber
            let name = Self.name(number, id)
            try folder.write(data, as: name)
            index.lastNumber = number
            let file = File(name: name, number: number, isRefused: false, entry: entry)
            index.waiting[name] = file
            if let refused {
                do throws(NetworkError) {
                    try refusals.remove(refused.name)
                    index.refused[refused.name] = nil
                } catch {
                    // The entry itself was written.
                    note(error)
                }
            }
            return (file, refused == nil)
        }
    }

    /// Reads the message of a pending file; returns `nil` if the file is gone, or was damaged and moved aside.
    private func message(_ file: File, _ index: inout Index) throws(NetworkError) -> OutboxMessage? {
        do throws(NetworkError) {
            return try OutboxMessage(try data(file.name, in: folder), path: "\(folder.path)/\(file.name)", key)
        } catch {
            if folder.has(file.name) {
                guard error.kind == .decoding else { throw error }
                quarantine(file.name, in: folder, error, &index)
            }
            index.waiting[file.name] = nil
            return nil
        }
    }

    /// Creates all directories that sending needs, so that it needs no disk space later.
    private func make() throws(NetworkError) {
        for folder in [folder, refusals, damages] { try folder.make() }
        try folder.touch(Self.lock)
    }

    /// Removes a file from its directory.
    func remove(_ file: File) throws(NetworkError) {
        try index.withLock { index throws(NetworkError) in
            try (file.isRefused ? refusals : folder).remove(file.name)
            index.waiting[file.name] = nil
            index.refused[file.name] = nil
        }
    }

    /// Moves a pending file to the refused ones.
    func refuse(_ file: File, _ reason: String) throws(NetworkError) {
        try index.withLock { index throws(NetworkError) in
            let name = "\(file.name.dropLast(Self.ending.count))-\(reason)\(Self.ending)"
            try folder.move(file.name, to: refusals, as: name)
            index.waiting[file.name] = nil
        }
    }

    /// Moves a refused file behind all pending ones.
    func retry(_ file: File) throws(NetworkError) {
        try index.withLock { index throws(NetworkError) in
            try refresh(&index)
            let number = index.nextNumber
            try refusals.move(file.name, to: folder, as: Self.name(number, file.entry.id))
            index.lastNumber = number
            index.refused[file.name] = nil
        }
    }

    /// Acquires the lock for sending; returns `nil` if another process has it.
    func acquireSendLock() throws(NetworkError) -> OpenFile? {
        guard let lock = try folder.hold(Self.lock) else { return nil }
        try folder.removeParts(olderThan: 3_600)
        return lock
    }

    // MARK: - Files

    private static func name(_ number: UInt64, _ id: String, _ reason: String? = nil) -> String {
        let digits = String(number)
        let zeros = String(repeating: "0", count: 20 - digits.count)
        return "\(zeros)\(digits)-\(id)\(reason.map { "-\($0)" } ?? "")\(ending)"
    }

    private func refresh(_ index: inout Index, moves: Bool = true) throws(NetworkError) {
        try refresh(\.waiting, of: folder, isRefused: false, &index, moves: moves)
        try refresh(\.refused, of: refusals, isRefused: true, &index, moves: moves)
    }

    private func refresh(
        _ files: WritableKeyPath<Index, [String: File]>,
        of folder: PrivateFolder,
        isRefused: Bool,
        _ index: inout Index,
        moves: Bool
    ) throws(NetworkError) {
        let names = Set(try folder.names().filter { $0.hasSuffix(Self.ending) })
        for name in index[keyPath: files].keys where !names.contains(name) { index[keyPath: files][name] = nil }
        for name in names where index[keyPath: files][name] == nil {
            do throws(NetworkError) {
                index[keyPath: files][name] = try file(name, in: folder, isRefused: isRefused)
                index.skipped.remove("\(folder.path)/\(name)")
            } catch {
                // Another process may have sent it in the meantime.
                guard folder.has(name) else { continue }
                // A lack of memory or file descriptors is temporary. Fail, so that no later entry is sent before this
                // one.
                if error.kind == .file, folder.isReadable(name) { throw error }
                quarantine(name, in: folder, error, &index, moves: moves)
            }
        }
    }

    private func file(_ name: String, in folder: PrivateFolder, isRefused: Bool) throws(NetworkError) -> File {
        let path = "\(folder.path)/\(name)"
        let data = try data(name, in: folder)
        let message = try OutboxMessage(data, path: path, key)
        let parts = name.dropLast(Self.ending.count).split(separator: "-", maxSplits: 2).map(String.init)
        guard let number = parts.first.flatMap({ UInt64($0) }), number < .max / 2, parts.count == (isRefused ? 3 : 2)
        else {
            throw .damaged(path, "its file name is not valid for an entry")
        }
        let state = isRefused ? Outbox.Entry.State.refused(parts[2]) : .waiting
        let entry = Outbox.Entry(message, id: parts[1], bytes: data.count, state: state)
        return File(name: name, number: number, isRefused: isRefused, entry: entry)
    }

    /// Reads a file. A file that exceeds this outbox's limit is read only if its header declares the actual size.
    private func data(_ name: String, in folder: PrivateFolder) throws(NetworkError) -> Data {
        let (file, path) = (try folder.file(name), "\(folder.path)/\(name)")
        let size = try file.size()
        if size > limits.maxEntryBytes {
            try OutboxMessage.check(size, against: try file.beginning(1 << 20), path: path)
            guard size <= Self.maxBytesRead else { throw .unreadableSize(path, size) }
        }
        return try file.contents(upTo: max(limits.maxEntryBytes, Self.maxBytesRead))
    }

    /// Reports a file that isn't a valid entry. A damaged one is moved aside first.
    private func quarantine(
        _ name: String,
        in folder: PrivateFolder,
        _ error: NetworkError,
        _ index: inout Index,
        moves: Bool = true
    ) {
        index.waiting[name] = nil
        index.refused[name] = nil
        var error = error
        if error.kind == .decoding, moves {
            do throws(NetworkError) {
                try folder.move(name, to: damages, as: name)
                error.advice = "the file was moved to \(damages.path)/\(name); other entries are not affected"
                return index.report(error)
            } catch let trouble {
                guard folder.has(name) else { return }
                error.advice = "the file could not be moved aside: \(trouble.message); other entries are not affected"
            }
        }
        let path = "\(folder.path)/\(name)"
        if error.kind == .file { error.advice = "make \(path) readable, or remove it; other entries are not affected" }
        if index.skipped.insert(path).inserted { index.report(error) }
    }
}

extension NetworkError {
    fileprivate static func full(_ path: String, _ count: Int) -> NetworkError {
        NetworkError(
            .file,
            during: .file,
            "the outbox \(path) is full: it has \(count) entries",
            advice: "send or remove entries, or increase Outbox.Limits"
        )
    }

    fileprivate static func unreadableSize(_ path: String, _ size: Int64) -> NetworkError {
        NetworkError(
            .tooLarge,
            during: .build,
            "the outbox entry \(path) is too large to read (\(size) bytes)",
            advice: "remove the file; it was left in place, and other entries are not affected"
        )
    }

    static func outboxEntryTooLarge(_ limits: Outbox.Limits) -> NetworkError {
        NetworkError(
            .tooLarge,
            during: .build,
            "the request is larger than the \(limits.maxEntryBytes) bytes allowed for an outbox entry",
            advice: "increase Outbox.Limits.maxEntryBytes, or send the request without the outbox"
        )
    }

    fileprivate static let otherMessage = NetworkError(
        .badRequest,
        during: .build,
        "the outbox already contains a different request with the same Idempotency-Key",
        advice: "use a unique key for each request"
    )
}
