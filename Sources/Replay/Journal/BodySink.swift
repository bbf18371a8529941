import BeagleNet
import BeagleNetCurl
import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Takes a body in as it comes, without its secrets: a short one into memory, a longer one into a file named by what is in
/// it. Used by the writer of a log alone.
final class BodySink {
    private let directory: LogDirectory
    private let options: RequestLog.Options
    private let partName: () -> String
    private let place: String
    private var redactor: BodyRedactor
    /// Undoes what the body is coded in; nil where that is nothing.
    private let decoder: ContentDecoder?
    private var digest: RunningSHA256?
    private var file: OpenFile?
    private var memory = Data()
    private var kept = 0
    private var omitted: String?
    /// Whether the body is coded, and that could not be undone.
    private var isOpaque = false
    /// Whether it is only the beginning.
    private(set) var isTruncated = false

    /// - Parameters:
    ///   - partName: the file of a long body while it comes, relative to the directory.
    ///   - coding: what it is coded in; nil where that is nothing.
    ///   - place: what an audit calls the body.
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
        self.redactor = BodyRedactor(redactor, contentType: mediaType, at: place)
        decoder = coding?.decoder()
        if coding != nil, decoder == nil { omitCoded() }
    }

    /// A body that does not come to its end leaves nothing.
    deinit {
        if file != nil { removePart() }
    }

    /// What was taken out of it, as places; what must not be kept because nobody can tell, as one.
    var redactions: [String] {
        let reason = isOpaque ? .encoding : redactor.unredactable
        return redactor.audit.places + (reason.map { ["\(place):[\($0.rawValue)]"] } ?? [])
    }

    /// Whether something was taken out of what is kept.
    var isRedacted: Bool { !redactor.audit.places.isEmpty }

    /// Bytes that are kept.
    var shownBytes: Int64 { Int64(kept) }

    private func removePart() {
        // What cannot be removed is cleared up later.
        do throws(NetworkError) { try directory.folder.remove(partName()) } catch {}
    }

    /// Whether it was coded, so that the bytes that are kept are others than those that were sent.
    var isDecoded: Bool { decoder != nil }

    /// Takes the next piece in.
    func feed(_ piece: Data) throws(NetworkError) {
        guard omitted == nil, !isTruncated else { return }
        guard let decoder else { return try look(at: piece) }
        var failure: NetworkError?
        do throws(NetworkError) {
            try decoder.decode(piece) { decoded in
                do throws(NetworkError) { try look(at: decoded) } catch { failure = error }
                return omitted == nil && !isTruncated
            }
        } catch {
            omitCoded()
        }
        if let failure { throw failure }
    }

    /// Of what cannot be decoded nobody can tell what is secret.
    private func omitCoded() {
        isOpaque = true
        omit("unredactable")
    }

    private func look(at piece: Data) throws(NetworkError) {
        let shown = redactor.feed(piece)
        guard redactor.unredactable == nil else { return omit("unredactable") }
        try keep(shown)
    }

    /// There is more, which nobody saw.
    func cut() {
        isTruncated = true
    }

    /// Nothing of it is kept.
    func omit(_ reason: String) {
        omitted = reason
        memory = Data()
        if file != nil { removePart() }
        file = nil
    }

    private func keep(_ piece: Data) throws(NetworkError) {
        let whole = piece.count
        let piece = piece.prefix(max(0, options.maxBodyBytes - kept))
        kept += piece.count
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
        // Before the file, which nobody would remove where there is no libcrypto.
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

    /// What becomes of the body, which has come to its end or will not come any further.
    ///
    /// - Parameter syncs: whether it is to outlive a loss of power.
    func finish(syncs: Bool) throws(NetworkError) -> LoggedBody.Content {
        if omitted == nil {
            checkDecoded()
            let rest = redactor.finish()
            switch redactor.unredactable {
            case nil: try keep(rest)
            // What was given out before is free of secrets.
            case RedactedBody.Reason.truncated? where kept > 0: isTruncated = true
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

    /// What was cut off in its coding is a beginning.
    private func checkDecoded() {
        do throws(NetworkError) { try decoder?.finish() } catch { isTruncated = true }
    }

    private func move(to name: String) throws(NetworkError) {
        let folder = directory.folder
        // One of another size was damaged, as by a loss of power.
        let isThere = folder.status(of: name).map { $0.isRegular && $0.bytes == Int64(kept) } ?? false
        // Young from now on: whoever clears up leaves it alone until the record that refers to it is there.
        if isThere, folder.touch(name) { return removePart() }
        try folder.makeFolder(String(name.dropLast(65)))
        folder.touch(partName())
        try folder.rename(partName(), to: name)
    }
}
