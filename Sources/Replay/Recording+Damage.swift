import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A check of a log's body file, which is named by the SHA-256 of its contents.
final class BodyDigestCheck {
    private let name: String
    private let expected: String
    /// The running digest; `nil` after the check.
    private var digest: RunningSHA256?

    /// Starts a check; returns `nil` if the file's name is not a digest, or if libcrypto is missing.
    init?(_ name: String) {
        guard Self.isBody(name) else { return nil }
        do throws(NetworkError) { digest = try RunningSHA256() } catch { return nil }
        expected = String(name.suffix(64))
        self.name = name
    }

    /// Returns whether a name is that of a log's body, relative to the log.
    static func isBody(_ name: String) -> Bool {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 3 && parts[0] == "bodies" && parts[1].utf8.count == 2 && parts[2].hasPrefix(parts[1])
            && parts[2].utf8.count == 64 && parts[2].utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
    }

    /// Adds the next piece to the digest; `nil` marks the end.
    ///
    /// - Throws: `NetworkError` of kind `.file` at the end if the contents differ from the recorded ones.
    func take(_ piece: Data?) throws(NetworkError) {
        if let piece { return piece.withUnsafeBytes { digest?.update($0) } }
        guard let digest = digest.take(), digest.hex() != expected else { return }
        throw NetworkError(.file, during: .file, "\(name) is damaged: its contents are not what was recorded")
    }
}

/// A reader of a body's file that reports a damaged file at its end.
final class VerifiedBodyReader: Sendable {
    private let reader: FileReader
    private let seal: Lock<BodyDigestCheck?>

    init(_ file: OpenFile, name: String) {
        reader = FileReader(file, path: name)
        seal = Lock(BodyDigestCheck(name))
    }

    /// Returns the next piece; `nil` at the end.
    func next() throws(NetworkError) -> Data? {
        do throws(NetworkError) {
            let piece = try reader.next()
            try seal.withLock { seal throws(NetworkError) in try seal?.take(piece) }
            return piece
        } catch {
            throw error.whileReading
        }
    }
}

extension Recording {
    /// Returns whether a body's file can be opened.
    func hasFile(_ name: String) -> Bool {
        do throws(NetworkError) {
            _ = try file(name)
            return true
        } catch {
            return false
        }
    }

    /// Returns the error if a body is missing or damaged; `nil` if it is intact.
    func damage(of body: LogEntry.Body?) -> NetworkError? {
        guard case .file(let name)? = body?.content else { return nil }
        do throws(NetworkError) {
            let reader = VerifiedBodyReader(try file(name), name: name)
            while try reader.next() != nil {}
            return nil
        } catch {
            return error
        }
    }
}

extension NetworkError {
    /// The same error, but with a phase that marks a file error as one of reading, not of writing.
    var whileReading: NetworkError {
        guard kind == .file else { return self }
        var error = self
        error.phase = .build
        return error
    }
}
