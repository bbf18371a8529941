import ArgumentParser
import BeagleNetHTTP
import Foundation

/// Runs work that reads a file, and marks its file errors as read errors, which have a different exit code from write
/// errors.
@discardableResult
func reading<R>(_ work: () throws(NetworkError) -> R) throws(NetworkError) -> R {
    do throws(NetworkError) {
        return try work()
    } catch {
        var error = error
        if error.kind == .file { error.phase = .build }
        throw error
    }
}

extension NetworkError {
    /// Returns the error of a file that can't be read, with the reason that the system gives.
    ///
    /// - Parameter path: The path, or `-` for standard input.
    static func unreadable(_ path: String, advice: String, underlying: any Error) -> NetworkError {
        var message = "cannot read \(path == "-" ? "standard input" : path)"
        if path != "-" {
            // Opening a directory succeeds.
            do throws(NetworkError) { _ = try OpenFile(reading: path).size() } catch {
                message = error.message.replacing("cannot open", with: "cannot read")
            }
        }
        return NetworkError(.file, during: .build, message, advice: advice, underlying: underlying)
    }
}

extension FileHandle {
    /// Reads the whole contents into memory.
    ///
    /// - Parameters:
    ///   - limit: The maximum size, in bytes. A larger file is an error.
    ///   - name: The name for the error message.
    func wholeContents(upTo limit: Int, of name: String) throws -> Data {
        let data = try read(upToCount: limit + 1) ?? Data()
        guard data.count <= limit else {
            throw Failure(
                exit: ExitCode.readFailed,
                code: "file",
                phase: .build,
                "cannot read \(name): it is larger than \(byteCount(Int64(limit)))"
            )
        }
        return data
    }
}
