#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A file being downloaded that a later download goes on with, also where the process was killed meanwhile.
///
/// The bytes are in `PATH.part`, which takes the place of `PATH` when all are there. What they are a part of stands in
/// `PATH.part.json`, written before the first of them and removed before they are: at any moment the part is the
/// beginning of what its record names. (After a loss of power the system may have kept only one of the two.)
package final class ResumableFile {
    /// What an answer means.
    package enum Answer {
        /// Its body is to be written.
        case body
        /// All is there already.
        case complete
        /// What is there is of no use any more and was removed: ask again.
        case again
    }

    /// What a part is the beginning of.
    private struct Record: Codable {
        /// SHA-256 of the URL that was asked, which may hold a secret.
        var resource: String
        /// A strong `ETag` as opaque text, or a `Last-Modified` that is as good as one.
        var validator: String
        /// Bytes in all, where known.
        var length: Int64?

        var isETag: Bool { validator.hasPrefix("\"") }
    }

    /// The largest record that is read, in bytes.
    private static let recordLimit = 1 << 20

    private let path: String
    private let part: String
    private let file: OpenFile
    private let recordPath: String
    private let resource: String
    private var record: Record?
    /// Bytes in the part.
    package private(set) var position: Int64 = 0
    /// Bytes in all, where known.
    package private(set) var length: Int64?
    private var isCommitted = false
    /// What the body that comes is held to, if it is that of a part.
    private var body: PartialBody?

    /// Opens the part of an earlier download, or a new one. One download at a time writes it.
    ///
    /// - Parameter url: what is asked; a part of something else is not gone on with.
    /// - Throws: `NetworkError` of kind `.file` where nothing can be written there, or somebody else writes it.
    package init(path: String, url: String) throws(NetworkError) {
        self.path = FileSink.target(of: path)
        part = self.path + ".part"
        recordPath = self.path + ".part.json"
        resource = try SHA256Digest.hex(of: Data(url.utf8))
        guard FileSink.isReplaceable(self.path) else {
            throw NetworkError(.file, during: .file, "cannot resume \(self.path): it is not a regular file")
        }
        file = try OpenFile.appendingAlone(part)
        position = try file.size()
        record = Self.read(recordPath)
        if record?.resource != resource || position > record?.length ?? .max { record = nil }
        if record == nil { try startOver() }
        length = record?.length
    }

    deinit {
        guard !isCommitted, !isKept else { return }
        unlink(part)
        unlink(recordPath)
    }

    /// Whether the part stays where this ends before all is there.
    package var isKept: Bool { record != nil && position > 0 }

    /// The fields that ask for what is missing (RFC 9110, 13.1.5 and 14.2). Not compressed: an encoding made anew may
    /// differ from the one before.
    package var fields: HTTPFields {
        var fields: HTTPFields = [.acceptEncoding: "identity"]
        if let record, position > 0 {
            fields[.range] = "bytes=\(position)-"
            fields[fields: .ifRange] = [HTTPField(name: .ifRange, opaqueValue: record.validator)]
        }
        return fields
    }

    /// Whether an answer of this status to a request with `fields` is for `begin`: one in 200...299, or the 416 to a
    /// range.
    package func takes(_ status: HTTPResponse.Status) -> Bool {
        status.kind == .successful || (status == .rangeNotSatisfiable && fields[.range] != nil)
    }

    /// Looks at the head of an answer to a request with `fields`, of a status that `takes` says yes to.
    ///
    /// - Throws: `NetworkError` where the body cannot be made part of the file.
    package func begin(_ response: HTTPResponse) throws(NetworkError) -> Answer {
        guard takes(response.status) else {
            throw NetworkError(.status, during: .response, "the server returned \(response.status)")
        }
        let isContinuing = record != nil && position > 0
        body = nil
        switch response.status {
        case .rangeNotSatisfiable:
            let range = response.headerFields[single: .contentRange].flatMap { ContentRange($0) }
            if range?.total == position, (record?.length ?? position) == position { return .complete }
            try startOver()
            return .again
        case .partialContent:
            guard isContinuing else { throw .unaskedPart }
            // Without a length nothing tells that this is the rest (RFC 9110, 15.3.7).
            guard let part = PartialBody(response), part.start == position, fits(response, part.total),
                let total = length ?? part.total, part.end <= total
            else {
                try startOver()
                return .again
            }
            (length, body) = (total, part)
            return .body
        default:
            try startOver()
            if let encoding = response.headerFields[.contentEncoding], encoding.lowercased() != "identity" {
                throw NetworkError(
                    .encoding,
                    during: .body,
                    "the server encoded the body although the request did not allow it",
                    advice: "download it without resuming"
                )
            }
            length = response.headerFields[single: .contentLength].flatMap { Int64($0) }
            if let validator = response.strongValidator {
                let record = Record(resource: resource, validator: validator, length: length)
                try write(record)
                self.record = record
            }
            return .body
        }
    }

    /// Writes all bytes behind those written before.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        guard position + Int64(bytes.count) <= length ?? .max else {
            try startOver()
            throw NetworkError(.protocol, during: .body, "the server sent more bytes than it declared")
        }
        do throws(NetworkError) {
            try body?.take(bytes.count)
        } catch {
            try startOver()
            throw error
        }
        try file.write(bytes)
        position += Int64(bytes.count)
    }

    /// Writes all that a body gives.
    ///
    /// - Parameter onChunk: called after each piece was written.
    package func write(contentsOf body: HTTPBody, onChunk: (Data) -> Void) async throws(NetworkError) {
        try await NetworkError.catching {
            for try await chunk in body {
                try chunk.withUnsafeBytes { try write($0) }
                onChunk(chunk)
            }
        }
    }

    /// The answer has come to its end, or `begin` said that all is there.
    ///
    /// - Throws: `NetworkError` of kind `.truncated` where the server has sent less than all; the part stays.
    package func commit() throws(NetworkError) {
        guard position == length ?? position else {
            throw NetworkError(
                .truncated,
                during: .body,
                "the server sent only \(position) of \(length ?? position) bytes",
                advice: "resume the download"
            )
        }
        guard FileSink.isReplaceable(path) else {
            throw NetworkError(.file, during: .file, "cannot replace \(path): it is not a regular file")
        }
        guard rename(part, path) == 0 else { throw .file("cannot rename \(part) to", path, errno) }
        isCommitted = true
        unlink(recordPath)
    }

    /// Whether what is missing is of the same representation as what is there. A 206 repeats the `ETag` (RFC 9110,
    /// 15.3.7), but not always the date.
    private func fits(_ response: HTTPResponse, _ total: Int64?) -> Bool {
        guard let record, record.length == nil || total == nil || record.length == total else { return false }
        if record.isETag { return response.headerFields.single(.eTag)?.opaqueValue == record.validator }
        let date = response.headerFields.single(.lastModified)?.opaqueValue
        return date == record.validator || !response.headerFields.contains(.lastModified)
    }

    private func startOver() throws(NetworkError) {
        if unlink(recordPath) != 0, errno != ENOENT { throw .file("cannot remove", recordPath, errno) }
        try file.truncate()
        record = nil
        length = nil
        position = 0
    }

    /// Half of a record, of a process that was killed here, does not parse: the part is empty then.
    private func write(_ record: Record) throws(NetworkError) {
        do {
            let data = try JSONEncoder().encode(record)
            let file = try OpenFile(replacing: recordPath)
            try data.withUnsafeBytes { try file.write($0) }
        } catch {
            throw NetworkError(wrapping: error)
        }
    }

    /// The record of a part; nil where there is none that can be read, which is as good as no part.
    private static func read(_ path: String) -> Record? {
        guard let data = try? OpenFile(reading: path, followsLinks: false).contents(upTo: recordLimit) else {
            return nil
        }
        return try? JSONDecoder().decode(Record.self, from: data)
    }
}

extension HTTPResponse {
    /// What `If-Range` may hold (RFC 9110, 13.1.5): an `ETag` that is not weak, else a `Last-Modified` of which nobody
    /// can doubt that the file was not changed twice within its second (8.8.2.2).
    fileprivate var strongValidator: String? {
        if headerFields.contains(.eTag) {
            // Two that differ tell nothing.
            guard let tag = headerFields.single(.eTag)?.opaqueValue else { return nil }
            return tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.utf8.count > 2 ? tag : nil
        }
        guard let text = headerFields[single: .lastModified], let modified = HTTPDate(text),
            let date = headerFields[single: .date].flatMap({ HTTPDate($0) }), date.seconds >= modified.seconds + 60
        else { return nil }
        return text
    }
}
