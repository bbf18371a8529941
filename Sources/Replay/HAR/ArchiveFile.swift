import BeagleNetHTTP
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A reader of the parts of an archive's file, which may be compressed.
final class ArchiveFile {
    let path: String
    private let limits: HARReader.Limits
    private let file: FileReader
    /// The zip archive, if the file is one; `nil` otherwise, or if nothing has been read yet.
    private(set) var zip: ZipArchive?
    private var member: ZipArchive.MemberReader?
    private var inflater: Inflater?
    private var scanner: ArchiveScanner
    /// The parts that were found but not returned yet, in reverse order.
    private var parts: [ArchivePart] = []
    /// The error that follows these parts.
    private var failure: NetworkError?
    private var isAtEnd = false
    /// The number of bytes of the text that were read.
    private var count = 0

    init(path: String, limits: HARReader.Limits) {
        self.path = path
        self.limits = limits
        file = FileReader(path: path)
        scanner = ArchiveScanner(limit: limits.entryBytes)
    }

    /// Returns the next part; `nil` at the end.
    func next() throws(NetworkError) -> ArchivePart? {
        while parts.isEmpty {
            if let failure { throw failure }
            if isAtEnd { return nil }
            do throws(NetworkError) {
                try scanNextPiece()
            } catch {
                failure = error
            }
            parts = scanner.takeParts().reversed()
        }
        return parts.removeLast()
    }

    private func scanNextPiece() throws(NetworkError) {
        guard let piece = try nextPiece() else {
            isAtEnd = true
            try scan { scanner throws(JSONFault) in try scanner.finish() }
            guard scanner.hasEntries else {
                throw error(nil, "$", "it is JSON, but not an HTTP archive: it has no log.entries")
            }
            return
        }
        count += piece.count
        try scan { scanner throws(JSONFault) in
            try Array(piece).withUnsafeBufferPointer { bytes throws(JSONFault) in try scanner.feed(bytes) }
        }
    }

    private func scan(_ work: (inout ArchiveScanner) throws(JSONFault) -> Void) throws(NetworkError) {
        do throws(JSONFault) {
            try work(&scanner)
        } catch {
            throw self.error(error.offset, error.path, error.reason)
        }
    }

    /// Returns the next piece of the text.
    private func nextPiece() throws(NetworkError) -> Data? {
        guard count > 0 || inflater != nil || member != nil else { return try firstPiece() }
        if let member { return try next(of: member) }
        guard let inflater else { return try file.next() }
        return try inflated(inflater) { () throws(NetworkError) in try self.file.next() }
    }

    /// Detects the file's format by its first bytes.
    private func firstPiece() throws(NetworkError) -> Data? {
        guard let first = try file.next() else { throw error(0, "", "it is empty") }
        switch (first.first, first.dropFirst().first) {
        case (0x1F, 0x8B), (0x78, 0x01), (0x78, 0x5E), (0x78, 0x9C), (0x78, 0xDA):
            var next: Data? = first
            let inflater = try Inflater()
            self.inflater = inflater
            return try inflated(inflater) { () throws(NetworkError) in
                defer { next = nil }
                return if let next { next } else { try self.file.next() }
            }
        case (UInt8(ascii: "P"), UInt8(ascii: "K")): return try firstPieceOfMember()
        case (0xFE, 0xFF), (0xFF, 0xFE): throw error(0, "", "it is UTF-16, but archives must be UTF-8")
        default: return first
        }
    }

    private func firstPieceOfMember() throws(NetworkError) -> Data? {
        let member: ZipArchive.MemberReader
        do throws(NetworkError) {
            let zip = try ZipArchive(path: path, limit: limits.textBytes)
            self.zip = zip
            member = try zip.archive()
        } catch {
            if error.kind == .file { throw error }
            var located = self.error(0, "", error.message)
            located.kind = error.kind
            throw located
        }
        self.member = member
        guard let piece = try next(of: member) else { throw error(0, "", "the .har file in it is empty") }
        return piece
    }

    private func next(of member: ZipArchive.MemberReader) throws(NetworkError) -> Data? {
        do throws(NetworkError) {
            return try member.next()
        } catch {
            if error.kind == .file { throw error }
            var located = self.error(count, scanner.path, error.message)
            located.kind = error.kind
            throw located
        }
    }

    private func inflated(
        _ inflater: Inflater,
        _ source: () throws(NetworkError) -> Data?
    ) throws(NetworkError) -> Data? {
        do throws(NetworkError) {
            let piece = try inflater.next(source)
            guard count + (piece?.count ?? 0) <= limits.textBytes else {
                throw NetworkError(
                    .tooLarge,
                    during: .file,
                    "it is larger than \(limits.textBytes) bytes when decompressed"
                )
            }
            return piece
        } catch {
            if error.kind == .file { throw error }
            var located = self.error(count, scanner.path, error.message)
            located.kind = error.kind
            throw located
        }
    }

    /// Returns an error with its position in the file.
    private func error(_ offset: Int?, _ place: String, _ reason: String) -> NetworkError {
        let finding = Recording.Warning(file: path, offset: offset, path: place, reason: reason)
        return NetworkError(.decoding, during: .file, finding.description, underlying: finding)
    }
}
