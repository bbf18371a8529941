import BeagleNet
import BeagleNetCurl
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A sink for a body that arrives in pieces. It removes secrets, and stores a short body in memory and a longer one in
/// a file named by its digest.
///
/// Used only by the log's writer.
final class BodySink {
    private let directory: LogDirectory
    private let options: RequestLog.Options
    private let partName: () -> String
    private let place: String
    private var redactor: Redactor.BodyRedactor
    /// The decoder of the body's content coding; `nil` if it has none.
    private let decoder: ContentDecoder?
    private var digest: RunningSHA256?
    private var file: OpenFile?
    private var memory = Data()
    private var storedBytes = 0
    private var omitted: String?
    /// Whether the body has a content coding that could not be decoded.
    private var isUndecodable = false
    /// Whether only the beginning of the body is stored.
    private(set) var isTruncated = false

    /// Creates a sink for one body.
    ///
    /// - Parameters:
    ///   - partName: the name of the temporary file for a long body, relative to the directory.
    ///   - coding: the body's content coding; `nil` if it has none.
    ///   - place: the name of the body in an audit.
    init(
        _ directory: LogDirectory,
        _ options: RequestLog.Options,
        partName: @escaping @autoclosure () -> String,
        redactor: Redactor,
        mediaType: String,
        coding: BodyCoding? = nil,
        at place: String
    ) {
        self.directory = directory
        self.options = options
        self.partName = partName
        self.place = place
        self.redactor = Redactor.BodyRedactor(redactor, contentType: mediaType, at: place)
        decoder = coding?.decoder()
        if coding != nil, decoder == nil { omitCoded() }
    }

    /// Removes the temporary file of an unfinished body.
    deinit {
        if file != nil { removePart() }
    }

    /// The places from which secrets were removed, or the reason why the body cannot be stored.
    var redactions: [String] {
        let reason = isUndecodable ? .encoding : redactor.unredactable
        return redactor.audit.places + (reason.map { ["\(place):[\($0.rawValue)]"] } ?? [])
    }

    /// Whether something was removed from the stored part.
    var isRedacted: Bool { !redactor.audit.places.isEmpty }

    /// The number of bytes stored.
    var shownByteCount: Int64 { Int64(storedBytes) }

    private func removePart() {
        // A file that cannot be removed now is cleaned up later.
        do throws(NetworkError) { try directory.folder.remove(partName()) } catch {}
    }

    /// Whether the body had a content coding, so that the stored bytes differ from those on the wire.
    var isDecoded: Bool { decoder != nil }

    /// Adds the next piece.
    func feed(_ piece: Data) throws(NetworkError) {
        guard omitted == nil, !isTruncated else { return }
        guard let decoder else { return try redact(piece) }
        var failure: NetworkError?
        do throws(NetworkError) {
            try decoder.decode(piece) { decoded in
                do throws(NetworkError) { try redact(decoded) } catch { failure = error }
                return omitted == nil && !isTruncated
            }
        } catch {
            omitCoded()
        }
        if let failure { throw failure }
    }

    /// Omits a body that cannot be decoded, because its secrets cannot be found.
    private func omitCoded() {
        isUndecodable = true
        omit("unredactable")
    }

    private func redact(_ piece: Data) throws(NetworkError) {
        let shown = redactor.feed(piece)
        guard redactor.unredactable == nil else { return omit("unredactable") }
        try store(shown)
    }

    /// Marks the body as truncated, because later pieces are missing.
    func markTruncated() {
        isTruncated = true
    }

    /// Discards the body, for a reason.
    func omit(_ reason: String) {
        omitted = reason
        memory = Data()
        if file != nil { removePart() }
        file = nil
    }

    private func store(_ piece: Data) throws(NetworkError) {
        let whole = piece.count
        let piece = piece.prefix(max(0, options.maxBodyBytes - storedBytes))
        storedBytes += piece.count
        if piece.count < whole { isTruncated = true }
        if file == nil, memory.count + piece.count <= options.maxInlineBytes { return memory.append(piece) }
        do throws(NetworkError) {
            let file = if let file { file } else { try makeFile() }
            try write(memory, to: file)
            memory = Data()
            try write(piece, to: file)
        } catch {
            omit("not written")
            throw error
        }
    }

    private func makeFile() throws(NetworkError) -> OpenFile {
        // Created before the file, which would remain if libcrypto were missing.
        digest = try RunningSHA256()
        try directory.folder.makeFolder("bodies")
        let made = try directory.folder.file(creating: partName())
        file = made
        return made
    }

    private func write(_ piece: Data, to file: OpenFile) throws(NetworkError) {
        if piece.isEmpty { return }
        do {
            try piece.withUnsafeBytes { bytes in
                try file.write(bytes)
                digest?.update(bytes)
            }
        } catch {
            throw NetworkError(wrapping: error)
        }
    }

    /// Finishes the body, whether or not it is complete.
    ///
    /// - Parameter syncs: whether to flush the file so that it survives a power failure.
    func finish(syncs: Bool) throws(NetworkError) -> LogEntry.Body.Content {
        if omitted == nil {
            checkDecoded()
            let rest = redactor.finish()
            switch redactor.unredactable {
            case nil: try store(rest)
            // The part stored before is free of secrets.
            case Redactor.RedactedBody.Reason.truncated? where storedBytes > 0: isTruncated = true
            default: omit("unredactable")
            }
        }
        if let omitted { return .omitted(omitted) }
        guard let file, let digest = digest.take() else { return .data(memory) }
        do throws(NetworkError) {
            if syncs { try file.sync() }
            let name = directory.body(digest.hex())
            try move(to: name)
            self.file = nil
            return .file(name)
        } catch {
            omit("not written")
            throw error
        }
    }

    /// Marks a body as truncated if its content coding ends too early.
    private func checkDecoded() {
        do throws(NetworkError) { try decoder?.finish() } catch { isTruncated = true }
    }

    private func move(to name: String) throws(NetworkError) {
        let folder = directory.folder
        // A file of another size is damaged, for example by a power failure.
        let isThere = folder.status(of: name).map { $0.isRegular && $0.bytes == Int64(storedBytes) } ?? false
        // The new date protects the file from cleanup until the record that refers to it is written.
        if isThere, folder.touch(name) { return removePart() }
        try folder.makeFolder(String(name.dropLast(65)))
        folder.touch(partName())
        try folder.rename(partName(), to: name)
    }
}
