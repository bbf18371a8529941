import ArgumentParser
import BeagleNetHTTP
import Foundation

/// Tells a file that cannot be read from one that cannot be written: they end a command with different codes.
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

extension FileHandle {
    /// Reads all there is, into memory.
    ///
    /// - Parameters:
    ///   - limit: The size above which it is an error, in bytes.
    ///   - name: What the error calls it.
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
