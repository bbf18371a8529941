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

extension Recording {
    /// A new version of a recording.
    ///
    /// The existing one remains unchanged until `commit()`, and is kept by `discard()`.
    ///
    /// ```swift
    /// let update = try Recording.Update(of: "session.bglog")
    /// dependencies.requestLog = update.log
    /// …
    /// try await update.commit()
    /// ```
    public final class Update: Sendable {
        /// The temporary log into which requests are recorded.
        public let log: RequestLog
        private let path: String

        /// Starts a recording.
        ///
        /// - Parameters:
        ///   - path: the path of a log, or of an HTTP Archive if it ends with `.har`, `.har.gz` or `.zhar`. It doesn't
        ///     need to exist.
        ///   - options: the options of the log.
        /// - Throws: `NetworkError` of kind `.file` if the directory isn't writable, or the existing file or directory
        ///   isn't a recording, since `commit()` would delete it.
        public init(of path: String, options: RequestLog.Options = RequestLog.Options()) throws(NetworkError) {
            // A link is kept, and the recording to which it leads is replaced.
            self.path = FileSink.target(of: LogImport.withoutTrailingSlashes(path))
            try Self.checkIsRecording(self.path)
            let part = "\(self.path).\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
            log = try RequestLog(directory: part, options: options)
        }

        /// Ends the recording without changing the existing one.
        public func discard() async {
            await log.close()
            // A temporary log that cannot be removed does no harm.
            try? FileManager.default.removeItem(atPath: log.directory)
        }

        /// Ends the recording and atomically replaces the existing one.
        ///
        /// - Throws: `NetworkError` of kind `.file` if that is not possible, or if the existing file or directory isn't
        ///   a recording; it then remains unchanged.
        public func commit() async throws(NetworkError) { try await commit(exchanging: Self.exchange) }

        /// Replaces the recording.
        ///
        /// - Parameter exchange: exchanges two directories atomically; returns false if the system doesn't support
        ///   this.
        func commit(exchanging exchange: (String, String) -> Bool) async throws(NetworkError) {
            await log.close()
            do throws(NetworkError) {
                try Self.checkIsRecording(path)
                if Self.isArchive(path) {
                    try RequestLog.Reader(directory: log.directory).recording().writeHAR(to: path)
                } else {
                    try replaceDirectory(exchange)
                }
            } catch {
                await discard()
                throw error
            }
            await discard()
        }

        private static func isArchive(_ path: String) -> Bool {
            [".har", ".gz", ".zhar"].contains(where: path.hasSuffix)
        }

        /// Checks that the file or directory to be replaced is a recording.
        private static func checkIsRecording(_ path: String) throws(NetworkError) {
            var status = stat()
            guard lstat(path, &status) == 0 else { return }
            switch status.st_mode & S_IFMT {
            case S_IFDIR where !isArchive(path):
                let directory = LogDirectory(path: path)
                if let other = try directory.unrelatedFileName() { throw notARecording(path, "it contains \(other)") }
            case S_IFREG where isArchive(path):
                if status.st_size == 0 { return }
                do throws(NetworkError) {
                    _ = try HARReader(contentsOf: path).next()
                } catch {
                    throw notARecording(path, error.message)
                }
            // Devices and pipes are written to directly.
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

        /// Replaces the directory. If the system cannot exchange directories, the directory is missing for a moment.
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
            // The old directory is discarded later under this name.
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
}
