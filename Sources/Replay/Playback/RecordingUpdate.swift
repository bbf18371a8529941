public import BeagleNet
import BeagleNetHTTP
import CBeagleNetCurl
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

/// A recording that is made anew: until `commit()` what stands at its path stays as it is, and with `discard()` for good.
///
/// ```swift
/// let update = try RecordingUpdate(of: "session.bglog")
/// dependencies.requestLog = update.log
/// …
/// try await update.commit()
/// ```
public final class RecordingUpdate: Sendable {
    /// Where requests are recorded meanwhile.
    public let log: RequestLog
    private let path: String

    /// Begins a recording.
    ///
    /// - Parameters:
    ///   - path: of a log, or of an HTTP Archive where it ends with `.har`, `.har.gz` or `.zhar`. Nothing need be there.
    ///   - options: what is written of requests.
    /// - Throws: `NetworkError` of kind `.file` if nothing can be written beside it, or something at the path isn't a
    ///   recording: `commit()` would delete it.
    public init(of path: String, options: RequestLog.Options = RequestLog.Options()) throws(NetworkError) {
        // A link stays, and the recording that it leads to is replaced.
        self.path = FileSink.target(of: LogImport.plain(path))
        try Self.checkIsRecording(self.path)
        let part = "\(self.path).\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
        log = try RequestLog(directory: part, options: options)
    }

    /// Ends the recording and leaves what stands at its path as it is.
    public func discard() async {
        await log.close()
        // What cannot be removed is in nobody's way.
        try? FileManager.default.removeItem(atPath: log.directory)
    }

    /// Ends the recording and puts it in the place of the one that is there, all at once.
    ///
    /// - Throws: `NetworkError` of kind `.file` where that cannot be done, or something there isn't a recording; what was
    ///   there stays.
    public func commit() async throws(NetworkError) { try await commit(exchanging: Self.exchange) }

    /// - Parameter exchange: puts two directories in each other's place; false where the system cannot.
    func commit(exchanging exchange: (String, String) -> Bool) async throws(NetworkError) {
        await log.close()
        do throws(NetworkError) {
            try Self.checkIsRecording(path)
            if Self.isArchive(path) {
                try LogReader(directory: log.directory).recording().writeHAR(to: path)
            } else {
                try replaceDirectory(exchange)
            }
        } catch {
            await discard()
            throw error
        }
        await discard()
    }

    private static func isArchive(_ path: String) -> Bool { [".har", ".gz", ".zhar"].contains(where: path.hasSuffix) }

    /// Checks that nothing but a recording is deleted when another takes its place.
    private static func checkIsRecording(_ path: String) throws(NetworkError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        switch status.st_mode & S_IFMT {
        case S_IFDIR where !isArchive(path):
            let directory = LogDirectory(path: path)
            if let other = try directory.foreignName() { throw notARecording(path, "it contains \(other)") }
        case S_IFREG where isArchive(path):
            if status.st_size == 0 { return }
            do throws(NetworkError) {
                _ = try HARReader(contentsOf: path).next()
            } catch {
                throw notARecording(path, error.message)
            }
        // They are written to as they are.
        case S_IFCHR where isArchive(path), S_IFIFO where isArchive(path): return
        default: throw notARecording(path, isArchive(path) ? "it is not a file" : "it is not a directory")
        }
    }

    private static func notARecording(_ path: String, _ reason: String) -> NetworkError {
        NetworkError(
            .file,
            during: .file,
            "cannot replace \(path), because it is not a recording: \(reason)",
            advice: "record to another path, or remove the existing file or directory"
        )
    }

    /// Where the system cannot exchange two directories there is none for a moment.
    private func replaceDirectory(_ exchange: (String, String) -> Bool) throws(NetworkError) {
        let new = log.directory
        if rename(new, path) == 0 || exchange(new, path) { return }
        let old = "\(new).old"
        guard rename(path, old) == 0 else { throw .file("cannot replace", path, errno) }
        guard rename(new, path) == 0 else {
            let code = errno
            rename(old, path)
            throw .file("cannot replace", path, code)
        }
        // To be discarded like what was exchanged.
        rename(old, new)
    }

    private static func exchange(_ one: String, _ other: String) -> Bool {
        #if os(Linux)
            beagle_exchange(one, other) == 0
        #elseif canImport(Darwin)
            renamex_np(one, other, UInt32(RENAME_SWAP)) == 0
        #else
            false
        #endif
    }
}
