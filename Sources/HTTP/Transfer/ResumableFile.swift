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

/// A file whose download can be resumed later, even if the process was killed.
///
/// The bytes are in `PATH.part`, which is renamed to `PATH` when it is complete. `PATH.part.json` records which
/// representation they belong to. The record is written before the first bytes and removed before them, so that the
/// partial file is always the beginning of the recorded representation. After a power loss, the system may have kept
/// only one of the two files.
package final class ResumableFile {
    /// The action that a response requires.
    package enum ResponseAction {
        /// Write the body of the response.
        case body
        /// The file is already complete.
        case complete
        /// The partial file was outdated and has been emptied. Send the request again.
        case restart
    }

    /// The representation to which a partial file belongs.
    private struct Record: Codable {
        /// The SHA-256 of the requested URL. The URL itself isn't stored, because it may contain a secret.
        var resource: String
        /// A strong `ETag` as opaque text, or a `Last-Modified` date that is as reliable.
        var validator: String
        /// The total size in bytes, if known.
        var length: Int64?

        var isETag: Bool { validator.hasPrefix("\"") }
    }

    /// The maximum size of a record, in bytes.
    private static let recordLimit = 1 << 20

    private let path: String
    private let part: String
    private let file: OpenFile
    private let recordPath: String
    private let resource: String
    private var record: Record?
    /// The number of bytes in the partial file.
    package private(set) var position: Int64 = 0
    /// The total size in bytes, if known.
    package private(set) var length: Int64?
    private var isCommitted = false
    /// The expected range of a partial response. The body is checked against it.
    private var body: PartialBody?

    /// Opens the partial file of an earlier download, or creates a new one. Only one download at a time can write it.
    ///
    /// - Parameter url: The requested URL. A partial file of another URL isn't resumed.
    /// - Throws: `NetworkError` of kind `.file` if the file can't be written or another download is writing it.
    package init(path: String, url: String) throws(NetworkError) {
        self.path = FileSink.target(of: path)
        part = self.path + ".part"
        recordPath = self.path + ".part.json"
        resource = try SHA256Digest.hex(of: Data(url.utf8))
        guard FileSink.isReplaceable(self.path) else {
            throw NetworkError(.file, during: .file, "cannot resume \(self.path): it is not a regular file")
        }
        file = try OpenFile.appendingExclusively(part)
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

    /// Whether the partial file is kept if this object is released before the download is complete.
    package var isKept: Bool { record != nil && position > 0 }

    /// The header fields that request the missing bytes (RFC 9110, 13.1.5 and 14.2).
    ///
    /// Compression isn't allowed, because compressing the same content again may give different bytes.
    package var fields: HTTPFields {
        var fields: HTTPFields = [.acceptEncoding: "identity"]
        if let record, position > 0 {
            fields[.range] = "bytes=\(position)-"
            fields[fields: .ifRange] = [HTTPField(name: .ifRange, opaqueValue: record.validator)]
        }
        return fields
    }

    /// Returns whether `begin` accepts a response with this status to a request with `fields`: any status in 200...299,
    /// or 416 if a range was requested.
    package func accepts(_ status: HTTPResponse.Status) -> Bool {
        status.kind == .successful || (status == .rangeNotSatisfiable && fields[.range] != nil)
    }

    /// Examines the head of a response to a request with `fields`. `accepts` must accept its status.
    ///
    /// - Throws: `NetworkError` if the body can't be added to the file.
    package func begin(_ response: HTTPResponse) throws(NetworkError) -> ResponseAction {
        guard accepts(response.status) else {
            throw NetworkError(.status, during: .response, "the server returned \(response.status)")
        }
        let isContinuing = record != nil && position > 0
        body = nil
        switch response.status {
        case .rangeNotSatisfiable:
            let range = response.headerFields[single: .contentRange].flatMap { ContentRange($0) }
            if range?.total == position, (record?.length ?? position) == position { return .complete }
            try startOver()
            return .restart
        case .partialContent:
            guard isContinuing else { throw .unexpectedPartialResponse }
            // Without a length, there is no proof that the part extends to the end (RFC 9110, 15.3.7).
            guard let part = PartialBody(response), part.start == position, matchesRecord(response, part.total),
                let total = length ?? part.total, part.end <= total
            else {
                try startOver()
                return .restart
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

    /// Appends bytes to the partial file.
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

    /// Writes a whole body.
    ///
    /// - Parameter onChunk: Called after each chunk is written.
    package func write(contentsOf body: HTTPBody, onChunk: (Data) -> Void) async throws(NetworkError) {
        try await NetworkError.catching {
            for try await chunk in body {
                try chunk.withUnsafeBytes { try write($0) }
                onChunk(chunk)
            }
        }
    }

    /// Completes the file. Call it after the body has ended, or if `begin` returned `.complete`.
    ///
    /// - Throws: `NetworkError` of kind `.truncated` if the server sent less than the total size. The partial file is
    ///   kept.
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

    /// Returns whether a partial response is of the same representation as the existing bytes.
    ///
    /// A 206 response repeats the `ETag` (RFC 9110, 15.3.7), but not always the date.
    private func matchesRecord(_ response: HTTPResponse, _ total: Int64?) -> Bool {
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

    /// Writes the record.
    ///
    /// If the process is killed here, the incomplete record doesn't parse, and the partial file is still empty.
    private func write(_ record: Record) throws(NetworkError) {
        do {
            let data = try JSONEncoder().encode(record)
            let file = try OpenFile(replacing: recordPath)
            try data.withUnsafeBytes { try file.write($0) }
        } catch {
            throw NetworkError(wrapping: error)
        }
    }

    /// Returns the record of a partial file, or `nil` if it is missing or unreadable.
    ///
    /// The partial file is then discarded.
    private static func read(_ path: String) -> Record? {
        guard let data = try? OpenFile(reading: path, followsLinks: false).contents(upTo: recordLimit) else {
            return nil
        }
        return try? JSONDecoder().decode(Record.self, from: data)
    }
}
