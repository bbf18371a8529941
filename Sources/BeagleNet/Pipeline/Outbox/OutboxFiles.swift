import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The directory of an outbox: a file for each entry, named by its number and its id.
///
/// What waits lies in the directory, what is not sent any more in `refused`, and what is damaged in `damaged`. A file is
/// written whole or not at all, moved in one step, and never changed: what a process leaves when it is killed is an outbox.
/// What cannot be read, as a file of a newer format, stays where it is, and the others go on.
final class OutboxFiles: Sendable {
    /// A file that was read once.
    struct File: Sendable {
        let name: String
        let number: UInt64
        let isRefused: Bool
        let entry: Outbox.Entry

        fileprivate func isBefore(_ other: File) -> Bool { (number, name) < (other.number, other.name) }
    }

    /// What is wrong with files, for those who tell of it: they wait for no disk.
    struct Notes: Sendable {
        /// Why files are no entries, where no report has said so yet.
        var damages: [NetworkError] = []
        /// What no log has said yet.
        var unlogged: [NetworkError] = []
    }

    struct Index: Sendable {
        fileprivate var waiting: [String: File] = [:]
        fileprivate var refused: [String: File] = [:]
        fileprivate var lastNumber: UInt64 = 0
        /// The paths of what cannot be read and stays where it is.
        fileprivate var skipped: Set<String> = []
        /// Whatever is found wrong on the way.
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

    /// The largest file that is read into memory, whatever it says of itself.
    private static let maxBytesRead = 1 << 30
    private static let ending = ".entry"
    private static let lock = "send.lock"
    private let folder: PrivateFolder
    private let refusals: PrivateFolder
    private let damages: PrivateFolder
    private let limits: Outbox.Limits
    /// Encrypts what is written; nil for clear text.
    private let key: OutboxKey?
    private let notes: Lock<Notes>
    /// Held while files are read and written: whoever asks for it is about to do that.
    let index: Lock<Index>

    init(directory: String, limits: Outbox.Limits, key: OutboxKey?) {
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

    /// What waits, in its order.
    func waiting() throws(NetworkError) -> [File] {
        try index.withLock { index throws(NetworkError) in
            try refresh(&index)
            return index.waiting.values.sorted { $0.isBefore($1) }
        }
    }

    /// What waits, and behind it what does not any more.
    func all() throws(NetworkError) -> [File] {
        try index.withLock { index throws(NetworkError) in
            try refresh(&index)
            return index.inOrder
        }
    }

    /// What there is, and why other files are no entries; all stays as it is.
    func look() throws(NetworkError) -> (files: [File], damages: [NetworkError]) {
        var index = Index(notes: Lock(Notes()))
        try refresh(&index, moves: false)
        let moved = try damages.names().sorted().map { name in
            NetworkError.damaged("\(damages.path)/\(name)", "it was moved aside")
        }
        return (index.inOrder, index.notes.withLock { $0.damages } + moved)
    }

    /// The message of a file.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` where it was damaged since, and then it is moved aside.
    func message(of file: File) throws(NetworkError) -> OutboxMessage {
        do throws(NetworkError) {
            let folder = file.isRefused ? refusals : folder
            return try OutboxMessage(try data(file.name, in: folder), path: "\(folder.path)/\(file.name)", key)
        } catch {
            if error.kind == .decoding {
                index.withLock { setAside(file.name, in: file.isRefused ? refusals : folder, error, &$0) }
            }
            throw error
        }
    }

    /// Why files are no entries that were found since this was asked last.
    func takeDamages() -> [NetworkError] {
        notes.withLock { notes in
            defer { notes.damages = [] }
            return notes.damages
        }
    }

    /// Has a log told of something that fails nobody.
    func note(_ error: NetworkError) {
        notes.withLock { notes in
            if notes.unlogged.last?.message != error.message { notes.unlogged.append(error) }
        }
    }

    /// What a log is to be told.
    func takeUnlogged() -> [NetworkError] {
        notes.withLock { notes in
            defer { notes.unlogged = [] }
            return notes.unlogged
        }
    }

    // MARK: - Changes

    /// Writes an entry behind all that are there; the one that is there where it is the same.
    ///
    /// - Returns: the entry's file, and whether there was none of its id, waiting or refused.
    func write(_ message: OutboxMessage) throws(NetworkError) -> (file: File, isNew: Bool) {
        let (id, data) = (try message.id(), try message.encoded(key))
        guard data.count <= limits.maxEntryBytes else { throw .outboxEntryTooLarge(limits) }
        return try index.withLock { index throws(NetworkError) in
            try refresh(&index)
            if let there = index.waiting.values.first(where: { $0.entry.id == id }),
                let kept = try self.message(there, &index)
            {
                guard kept.asksTheSame(as: message) else { throw .otherMessage }
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
                    // What was to be written is.
                    note(error)
                }
            }
            return (file, refused == nil)
        }
    }

    /// The message of a file that waits; nil where it is gone, or damaged and moved aside.
    private func message(_ file: File, _ index: inout Index) throws(NetworkError) -> OutboxMessage? {
        do throws(NetworkError) {
            return try OutboxMessage(try data(file.name, in: folder), path: "\(folder.path)/\(file.name)", key)
        } catch {
            if folder.has(file.name) {
                guard error.kind == .decoding else { throw error }
                setAside(file.name, in: folder, error, &index)
            }
            index.waiting[file.name] = nil
            return nil
        }
    }

    /// Makes all that sending needs, so that it needs no room on the disk later.
    private func make() throws(NetworkError) {
        for folder in [folder, refusals, damages] { try folder.make() }
        try folder.touch(Self.lock)
    }

    /// Removes a file, wherever it lies.
    func remove(_ file: File) throws(NetworkError) {
        try index.withLock { index throws(NetworkError) in
            try (file.isRefused ? refusals : folder).remove(file.name)
            index.waiting[file.name] = nil
            index.refused[file.name] = nil
        }
    }

    /// Moves what waits to what is not sent any more.
    func refuse(_ file: File, _ reason: String) throws(NetworkError) {
        try index.withLock { index throws(NetworkError) in
            let name = "\(file.name.dropLast(Self.ending.count))-\(reason)\(Self.ending)"
            try folder.move(file.name, to: refusals, as: name)
            index.waiting[file.name] = nil
        }
    }

    /// Lets what was refused wait again, behind all others.
    func retry(_ file: File) throws(NetworkError) {
        try index.withLock { index throws(NetworkError) in
            try refresh(&index)
            let number = index.nextNumber
            try refusals.move(file.name, to: folder, as: Self.name(number, file.entry.id))
            index.lastNumber = number
            index.refused[file.name] = nil
        }
    }

    /// Takes the right to send for this process; nil where another has it.
    func holdSending() throws(NetworkError) -> OpenFile? {
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
                // Another process may have sent it meanwhile.
                guard folder.has(name) else { continue }
                // A want of memory or descriptors passes: nothing goes out before what cannot be read because of it.
                if error.kind == .file, folder.isReadable(name) { throw error }
                setAside(name, in: folder, error, &index, moves: moves)
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

    /// Reads a file. One that is larger than this outbox makes them is read only if its description tells that size.
    private func data(_ name: String, in folder: PrivateFolder) throws(NetworkError) -> Data {
        let (file, path) = (try folder.file(name), "\(folder.path)/\(name)")
        let size = try file.size()
        if size > limits.maxEntryBytes {
            try OutboxMessage.check(size, against: try file.beginning(1 << 20), path: path)
            guard size <= Self.maxBytesRead else { throw .unreadableSize(path, size) }
        }
        return try file.contents(upTo: max(limits.maxEntryBytes, Self.maxBytesRead))
    }

    /// Reports what is no entry, after it was moved aside where it is damaged.
    private func setAside(
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
