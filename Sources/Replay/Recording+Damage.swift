import BeagleNet
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the file of a log's body is held to while it is read: it is named by the SHA-256 of what is in it.
final class BodySeal {
    private let name: String
    private let expected: String
    /// nil once it was checked.
    private var digest: RunningSHA256?

    /// nil where the name says nothing of what is in the file, or there is no libcrypto.
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

    /// Takes the next piece in; nil is the end.
    ///
    /// - Throws: `NetworkError` of kind `.file` where at its end the file is not what was written.
    func take(_ piece: Data?) throws(NetworkError) {
        if let piece { return piece.withUnsafeBytes { digest?.update($0) } }
        guard let digest = digest.take(), digest.hex() != expected else { return }
        throw NetworkError(.file, during: .file, "\(name) is damaged: its contents are not what was recorded")
    }
}

/// Reads a body's file, and says at its end where it is damaged.
final class SealedReader: Sendable {
    private let reader: FileReader
    private let seal: Lock<BodySeal?>

    init(_ file: OpenFile, name: String) {
        reader = FileReader(file, path: name)
        seal = Lock(BodySeal(name))
    }

    /// The next piece; nil at the end.
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
    /// Whether a body's file can be opened.
    func hasFile(_ name: String) -> Bool {
        do throws(NetworkError) {
            _ = try file(name)
            return true
        } catch {
            return false
        }
    }

    /// Why a body that should be there is not, or not as it was recorded; nil where nothing is wrong.
    func damage(of body: LoggedBody?) -> NetworkError? {
        guard case .file(let name)? = body?.content else { return nil }
        do throws(NetworkError) {
            let reader = SealedReader(try file(name), name: name)
            while try reader.next() != nil {}
            return nil
        } catch {
            return error
        }
    }
}

extension NetworkError {
    /// The error of a file that is read, which its phase tells from one that is written.
    var whileReading: NetworkError {
        guard kind == .file else { return self }
        var error = self
        error.phase = .build
        return error
    }
}
