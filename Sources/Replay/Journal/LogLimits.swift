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

/// Removes from a log what there is too much of, and what nobody refers to.
struct LogLimits {
    /// What is younger may belong to a record that another process is about to write, in seconds.
    private static let youth = 3_600
    /// A segment that was written to so lately may still be written to, in seconds.
    private static let rest = 10

    private let directory: LogDirectory
    private let options: RequestLog.Options
    private let now = time(nil)

    init(_ directory: LogDirectory, _ options: RequestLog.Options) {
        self.directory = directory
        self.options = options
    }

    /// Removes closed segments, the oldest first, and then the bodies that no segment left refers to.
    func clear() throws(NetworkError) {
        var segments = try directory.segments()
        var bodies = try files(in: "bodies")
        let total =
            bodies.reduce(0) { $0 + $1.bytes } + segments.reduce(0) { $0 + (file(directory.segment($1))?.bytes ?? 0) }
        // Only then, as all segments are read to see what they refer to.
        guard total > options.maxBytes || isTooOld(segments.first) || bodies.contains(where: isLeftOver) else { return }
        var references = try segments.map { (number) throws(NetworkError) in try names(in: number) }
        var bytes = total
        while segments.count > 1, bytes > options.maxBytes || isTooOld(segments[0]) {
            let path = directory.segment(segments[0])
            guard let segment = file(path), now - segment.written > Self.rest else { break }
            unlink(path)
            segments.removeFirst()
            references.removeFirst()
            bytes -= segment.bytes + sweep(&bodies, references)
        }
        _ = sweep(&bodies, references)
        try removeDeadSessions()
    }

    /// Whether it was being written when its process ended.
    private func isLeftOver(_ body: File) -> Bool { body.isPart && now - body.written > Self.youth }

    private func isTooOld(_ segment: Int?) -> Bool {
        guard let segment, let file = file(directory.segment(segment)) else { return false }
        return Double(now - file.written) > options.maxAge / .seconds(1)
    }

    /// Removes the bodies that none of these names, but for young ones.
    ///
    /// - Returns: how many bytes are free.
    private func sweep(_ bodies: inout [File], _ references: [Set<String>]) -> Int64 {
        var freed: Int64 = 0
        bodies.removeAll { body in
            guard now - body.written > Self.youth, !references.contains(where: { $0.contains(body.name) }) else {
                return false
            }
            unlink("\(directory.path)/\(body.name)")
            freed += body.bytes
            return true
        }
        return freed
    }

    private func removeDeadSessions() throws(NetworkError) {
        for name in try directory.names() where name.hasSuffix(".live") {
            let path = "\(directory.path)/\(name)"
            guard let file = file(path), now - file.written > Self.youth, !OpenFile.isHeld(path) else { continue }
            unlink(path)
        }
    }

    // MARK: files

    private struct File {
        /// Relative to the directory.
        let name: String
        let bytes: Int64
        /// In seconds since 1970.
        let written: Int

        var isPart: Bool { name.hasSuffix(".part") }
    }

    private func files(in folder: String) throws(NetworkError) -> [File] {
        guard access("\(directory.path)/\(folder)", F_OK) == 0 else { return [] }
        var files: [File] = []
        for name in try LogDirectory.names(in: "\(directory.path)/\(folder)") {
            let name = "\(folder)/\(name)"
            if let file = file("\(directory.path)/\(name)", name) {
                files.append(file)
            } else if folder == "bodies" {
                files += try self.files(in: name)
            }
        }
        return files
    }

    /// nil where there is no regular file.
    private func file(_ path: String, _ name: String = "") -> File? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        #if canImport(Darwin)
            let written = status.st_mtimespec.tv_sec
        #else
            let written = status.st_mtim.tv_sec
        #endif
        return File(name: name, bytes: Int64(status.st_size), written: written)
    }

    /// The files of bodies that a segment names, and those that exchanges which begin in it may have left.
    private func names(in segment: Int) throws(NetworkError) -> Set<String> {
        var names: Set<String> = []
        var lines = LogLines(path: directory.segment(segment))
        while let line = try lines.next() {
            guard case .whole(let bytes) = line.content, let document = try? JSONDocument(bytes) else { continue }
            let entry = document.root["entry"]
            for body in [entry?["request"]?["postData"], entry?["response"]?["content"]] {
                if let name = body?["_file"]?.string { names.insert(name) }
            }
            guard document.root["k"]?.string == "start", let id = entry?["_beagle"]?["id"]?.string else { continue }
            for side in BodySide.allCases { names.insert(directory.part(of: id, side)) }
        }
        return names
    }
}
