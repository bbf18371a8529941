import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The limits of a log. They remove the oldest segments if there is too much data, and bodies without references.
struct LogLimits {
    /// The time in seconds for which a body without a record is kept. Its process may have been asleep that long,
    /// together with the machine.
    private static let orphanLifetime = 3_600
    /// The time in seconds for which a segment may still be in use after the last write.
    private static let recentWriteInterval = 10
    /// The number of lines that are read before `isBusy` is called again.
    private static let pieceLines = 64

    private let directory: LogDirectory
    private let options: RequestLog.Options
    /// The time at which a limit was found exceeded, and whether there were bodies then; `nil` if no limit is exceeded.
    private var begun: (at: Int, hasBodies: Bool)?
    /// The names in the segments that were read so far. Written lines never change.
    private(set) var known: [Int: Names] = [:]
    private var linesRead = 0
    /// The error of the first file that couldn't be removed. It doesn't keep the others from being removed.
    private var failure: NetworkError?

    init(_ directory: LogDirectory, _ options: RequestLog.Options) {
        self.directory = directory
        self.options = options
    }

    /// Removes closed segments, the oldest first, and then the bodies that no remaining segment refers to.
    ///
    /// Segments are read only if a limit is exceeded and there are bodies.
    ///
    /// - Parameter isBusy: called every few lines; if it returns true, work stops and continues in the next call.
    /// - Returns: whether all work is done.
    mutating func clear(unless isBusy: () -> Bool = { false }) throws(NetworkError) -> Bool {
        let segments = try segments()
        if begun == nil {
            let (now, bodies) = (time(nil), try files(in: "bodies"))
            guard exceedsLimits(segments, bodies, now) else { return true }
            begun = (now, !bodies.isEmpty)
        }
        guard let (now, hasBodies) = begun else { return true }
        failure = nil
        known = known.filter { number, _ in segments.contains { $0.number == number } }
        // A body that is added from now on is too young to be removed, even without a reference.
        for segment in segments where hasBodies {
            guard try read(segment, unless: isBusy) else { return false }
        }
        begun = nil
        try remove(segments, now)
        try removeDeadSessions(now)
        if let failure { throw failure }
        return true
    }

    private func exceedsLimits(_ segments: [File], _ bodies: [File], _ now: Int) -> Bool {
        if (bodies + segments).reduce(0, { $0 + $1.bytes }) > options.maxBytes { return true }
        guard let oldest = segments.first else { return false }
        if isTooOld(oldest, now) { return true }
        // Unfinished parts of processes that have ended, whose start records are no longer in any segment.
        let parts = bodies.filter { $0.isPart && now - $0.written > Self.orphanLifetime }
        guard !parts.isEmpty, let begin = Segment.begin(of: path(oldest)) else { return false }
        return parts.contains { Double($0.written) < begin.timeIntervalSince1970 }
    }

    private func isTooOld(_ segment: File, _ now: Int) -> Bool {
        Double(now - segment.written) > options.maxAge / .seconds(1)
    }

    private mutating func remove(_ segments: [File], _ now: Int) throws(NetworkError) {
        var segments = segments[...]
        let bodies = try files(in: "bodies")
        let sizes = Dictionary(bodies.map { ($0.name, $0.bytes) }) { first, _ in first }
        var holders: [String: Int] = [:]
        for segment in segments {
            for name in names(segment) { holders[name, default: 0] += 1 }
        }
        // Bodies without references are removed by age. Removing a segment wouldn't free them.
        var bytes = segments.reduce(0) { $0 + $1.bytes } + holders.keys.reduce(0) { $0 + (sizes[$1] ?? 0) }
        while segments.count > 1, let oldest = segments.first, bytes > options.maxBytes || isTooOld(oldest, now),
            now - oldest.written > Self.recentWriteInterval
        {
            segments.removeFirst()
            guard remove(oldest.name) else { continue }
            bytes -= oldest.bytes
            for name in names(oldest) {
                holders[name, default: 0] -= 1
                if holders[name] == 0 { bytes -= sizes[name] ?? 0 }
            }
        }
        for body in bodies where holders[body.name, default: 0] == 0 && isUnused(body, now) {
            remove(body.name)
        }
    }

    /// Removes a file.
    ///
    /// - Returns: Whether it is gone.
    @discardableResult
    private mutating func remove(_ name: String) -> Bool {
        do throws(NetworkError) {
            try folder.remove(name)
            return true
        } catch {
            failure = failure ?? error
            return false
        }
    }

    /// Returns whether a body without references is old enough to be removed.
    ///
    /// Its status is read again, because another process may have started to use it since it was listed.
    private func isUnused(_ body: File, _ now: Int) -> Bool {
        guard let body = file(body.name) else { return false }
        return now - body.written > Self.orphanLifetime
    }

    private mutating func removeDeadSessions(_ now: Int) throws(NetworkError) {
        for name in try directory.names() where name.hasSuffix(".live") {
            guard let file = file(name), now - file.written > Self.orphanLifetime,
                !OpenFile.isLocked("\(directory.path)/\(name)")
            else { continue }
            remove(name)
        }
    }

    // MARK: names

    /// The body files to which a segment refers.
    struct Names {
        /// The inode, which distinguishes the file from another one with the same number.
        fileprivate let inode: UInt64
        /// The offset up to which the segment was read.
        fileprivate var offset: Int64 = 0
        /// The names of body files, and of the parts that exchanges beginning in the segment may have left.
        fileprivate var names: Set<String> = []
    }

    private func names(_ segment: File) -> Set<String> { known[segment.number]?.names ?? [] }

    /// Reads a segment up to the end, or until `isBusy` returns true.
    ///
    /// - Returns: whether the end was reached.
    private mutating func read(_ segment: File, unless isBusy: () -> Bool) throws(NetworkError) -> Bool {
        var names = known[segment.number] ?? Names(inode: segment.inode)
        if names.inode != segment.inode { names = Names(inode: segment.inode) }
        defer { known[segment.number] = names }
        if names.offset >= segment.bytes { return true }
        var lines = LogLines(path: path(segment), from: names.offset)
        do throws(NetworkError) {
            while let line = try lines.next() {
                // The rest of the line may be written later.
                if case .unfinished = line.content { break }
                names.offset = lines.offset
                names.names.formUnion(self.names(in: line))
                linesRead += 1
                if linesRead % Self.pieceLines == 0, isBusy() { return false }
            }
        } catch {
            // Another process has removed the segment.
            if file(segment.name) != nil { throw error }
        }
        return true
    }

    private func names(in line: LogLines.Line) -> [String] {
        guard case .whole(let bytes) = line.content, Self.mayName(bytes), let document = try? ParsedJSON(bytes) else {
            return []
        }
        let entry = document.root["entry"]
        let bodies = [entry?["request"]?["postData"], entry?["response"]?["content"]]
        let names = bodies.compactMap { $0?["_file"]?.string }
        guard document.root["k"]?.string == "start", let id = entry?["_beagle"]?["id"]?.string else { return names }
        return names + MessageSide.allCases.map { directory.part(of: id, $0) }
    }

    /// Returns whether a line may contain a name. Most lines contain none, and aren't worth parsing.
    private static func mayName(_ line: [UInt8]) -> Bool {
        if line.starts(with: #"{"k":"start""#.utf8) { return true }
        var rest = line[...]
        while let mark = rest.firstIndex(of: UInt8(ascii: "_")) {
            rest = rest[mark...]
            if rest.starts(with: "_file\"".utf8) { return true }
            rest = rest.dropFirst()
        }
        return false
    }

    // MARK: files

    private struct File {
        /// The path relative to the directory.
        let name: String
        /// The number of a segment; 0 for a body.
        var number = 0
        let inode: UInt64
        let bytes: Int64
        /// The modification time in seconds since 1970.
        let written: Int

        var isPart: Bool { name.hasSuffix(".part") }
    }

    private var folder: ConfinedFolder { directory.folder }

    private func path(_ file: File) -> String { "\(directory.path)/\(file.name)" }

    private func segments() throws(NetworkError) -> [File] {
        try directory.segments().compactMap { number in
            var segment = file(String(directory.segment(number).dropFirst(directory.path.count + 1)))
            segment?.number = number
            return segment
        }
    }

    /// Returns the files in a folder of the log and below it. Files behind links don't belong to the log.
    private func files(in name: String) throws(NetworkError) -> [File] {
        var files: [File] = []
        for entry in try folder.entries(of: name) ?? [] {
            let entry = "\(name)/\(entry)"
            if let file = file(entry) {
                files.append(file)
            } else if name == "bodies" {
                files += try self.files(in: entry)
            }
        }
        return files
    }

    /// Returns the status of a file; `nil` if it doesn't exist or isn't a regular file.
    private func file(_ name: String) -> File? {
        guard let status = folder.status(of: name), status.isRegular else { return nil }
        return File(name: name, inode: status.inode, bytes: status.bytes, written: status.written)
    }
}
