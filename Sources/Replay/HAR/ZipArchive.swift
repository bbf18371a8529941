import BeagleNetHTTP
import CBeagleNetCurl
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A zip archive that contains an HTTP Archive and the files of its bodies, as Playwright writes it.
///
/// Members are never extracted under their own names. They are read in pieces, or copied to an unnamed file. Their
/// sizes, checksums and positions are taken from the archive's central directory.
/// Source: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
package final class ZipArchive: Sendable {
    private struct Member: Sendable {
        let name: String
        let flags: Int
        let method: Int
        let checksum: UInt
        let packedBytes: Int
        let bytes: Int
        /// The offset of the local header.
        let offset: Int
    }

    /// The maximum size of the central directory, in bytes.
    private static let directoryLimit = 64 << 20
    /// The maximum size of a body, in bytes.
    private static let bodyLimit = 256 << 20

    private let path: String
    private let file: OpenFile
    /// The maximum size of the HTTP Archive, in bytes.
    private let limit: Int
    private let members: [String: Member]
    /// The name of the contained HTTP Archive, if any.
    private let archiveName: String?
    /// The member that was decompressed last, because a body is often read several times in a row.
    private let latest = Lock<(name: String, file: OpenFile)?>(nil)

    /// Reads the central directory of a zip archive.
    ///
    /// - Parameter limit: the maximum size of the HTTP Archive, in bytes.
    /// - Throws: `NetworkError` of kind `.file` if the file cannot be read, `.encoding` if it is not a complete zip
    ///   archive.
    init(path: String, limit: Int) throws(NetworkError) {
        self.path = path
        self.limit = limit
        file = try OpenFile(reading: path)
        let members = try Self.members(of: file)
        self.members = Dictionary(members.map { ($0.name, $0) }) { first, _ in first }
        let archives = members.map(\.name).filter { $0.lowercased().hasSuffix(".har") && !$0.hasPrefix("__MACOSX/") }
        archiveName = archives.contains("har.har") ? "har.har" : archives.first
    }

    /// Returns a reader for the contained HTTP Archive.
    ///
    /// - Throws: `NetworkError` of kind `.decoding` if the zip archive doesn't contain one.
    func archive() throws(NetworkError) -> MemberReader {
        guard let archiveName, let member = members[archiveName] else {
            throw NetworkError(.decoding, during: .file, "it is a zip archive without a .har file")
        }
        return try reader(of: member, upTo: limit)
    }

    /// Returns the contents of a body's file, as an unnamed file.
    ///
    /// - Parameter name: the path of the file relative to the HTTP Archive.
    /// - Throws: `NetworkError` of kind `.file` if the file doesn't exist or cannot be read, `.encoding` if it is
    ///   damaged.
    func file(_ name: String) throws(NetworkError) -> OpenFile {
        let folder = archiveName.flatMap { name in name.lastIndex(of: "/").map { String(name[...$0]) } } ?? ""
        guard let member = members[folder + name] else {
            throw NetworkError(.file, during: .build, "cannot read \(name): it is not in the zip archive \(path)")
        }
        if let latest = latest.withLock({ $0 }), latest.name == member.name { return latest.file }
        let reader = try reader(of: member, upTo: Self.bodyLimit)
        let scratch = try OpenFile(temporaryIn: FileManager.default.temporaryDirectory.path)
        while let piece = try reader.next() {
            try Array(piece).withRawBytes { bytes throws(NetworkError) in try scratch.write(bytes) }
        }
        latest.withLock { $0 = (member.name, scratch) }
        return scratch
    }

    private func reader(of member: Member, upTo limit: Int) throws(NetworkError) -> MemberReader {
        guard member.flags & 1 == 0 else { throw Self.fault("\(member.name) is encrypted") }
        guard member.method == 0 || member.method == 8 else {
            throw Self.fault("\(member.name) is compressed with method \(member.method); only deflate is supported")
        }
        guard member.bytes <= limit else {
            let reason = "\(member.name) is larger than the \(limit) bytes allowed when decompressed"
            throw NetworkError(.tooLarge, during: .file, reason)
        }
        let head = try Self.bytes(of: file, at: member.offset, 30)
        guard head.number(0, 4) == 0x0403_4B50 else {
            throw Self.fault("\(member.name) is not where the directory says")
        }
        let start = member.offset + 30 + head.number(26, 2) + head.number(28, 2)
        let source = CompressedRangeReader(file, from: start, count: member.packedBytes)
        return try MemberReader(source, member.method, member.bytes, member.checksum, of: member.name)
    }

    fileprivate static func fault(_ reason: String) -> NetworkError {
        NetworkError(.encoding, during: .file, "the zip archive cannot be read: \(reason)")
    }
}

// MARK: - The directory

extension ZipArchive {
    private static func members(of file: OpenFile) throws(NetworkError) -> [Member] {
        let size = Int(try file.size())
        // The end record is at the end of the file, followed only by a comment of up to 65,535 bytes.
        let tailStart = max(size - (22 + 0xFFFF), 0)
        let tail = try bytes(of: file, at: tailStart, size - tailStart)
        guard let end = stride(from: tail.count - 22, through: 0, by: -1).first(where: { tail.isEnd(at: $0) }) else {
            throw fault("its directory is missing, so it is probably truncated")
        }
        let (count, length, start) = (tail.number(end + 10, 2), tail.number(end + 12, 4), tail.number(end + 16, 4))
        guard start != 0xFFFF_FFFF, count != 0xFFFF else { throw fault("the zip64 format is not supported") }
        guard length <= directoryLimit, start + length <= size else { throw fault("its directory is damaged") }
        let directory = try bytes(of: file, at: start, length)
        var (members, place): ([Member], Int) = ([], 0)
        for _ in 0..<count {
            guard place + 46 <= directory.count, directory.number(place, 4) == 0x0201_4B50 else {
                throw fault("its directory is damaged")
            }
            let nameEnd = place + 46 + directory.number(place + 28, 2)
            guard nameEnd <= directory.count else { throw fault("its directory is damaged") }
            let member = Member(
                name: String(decoding: directory[(place + 46)..<nameEnd], as: UTF8.self),
                flags: directory.number(place + 8, 2),
                method: directory.number(place + 10, 2),
                checksum: UInt(directory.number(place + 16, 4)),
                packedBytes: directory.number(place + 20, 4),
                bytes: directory.number(place + 24, 4),
                offset: directory.number(place + 42, 4)
            )
            members.append(member)
            place = nameEnd + directory.number(place + 30, 2) + directory.number(place + 32, 2)
        }
        return members
    }

    private static func bytes(of file: OpenFile, at offset: Int, _ count: Int) throws(NetworkError) -> [UInt8] {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 1)
        defer { room.deallocate() }
        var done = 0
        while done < count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: room[done..<count])
            let read = try file.read(into: rest, at: Int64(offset + done))
            guard read > 0 else { throw fault("it is truncated") }
            done += read
        }
        return Array(room[..<count])
    }
}

extension [UInt8] {
    /// Returns a little-endian number.
    fileprivate func number(_ offset: Int, _ count: Int) -> Int {
        guard offset >= 0, offset + count <= self.count else { return 0 }
        return self[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Returns whether the end record of a zip archive is at this offset, with a comment that extends to the end of the
    /// file.
    fileprivate func isEnd(at offset: Int) -> Bool {
        number(offset, 4) == 0x0605_4B50 && offset + 22 + number(offset + 20, 2) == count
    }
}

// MARK: - Members

extension ZipArchive {
    /// A reader of a range of a file, in pieces.
    fileprivate final class CompressedRangeReader {
        private let file: OpenFile
        private var position: Int
        private let end: Int

        init(_ file: OpenFile, from start: Int, count: Int) {
            self.file = file
            position = start
            end = start + count
        }

        /// Returns the next piece; `nil` at the end.
        func next() throws(NetworkError) -> Data? {
            guard position < end else { return nil }
            let room = UnsafeMutableRawBufferPointer.allocate(byteCount: min(end - position, 128 << 10), alignment: 1)
            defer { room.deallocate() }
            let count = try file.read(into: room, at: Int64(position))
            guard count > 0 else { throw ZipArchive.fault("it is truncated") }
            position += count
            return Data(room[..<count])
        }
    }

    /// A reader of a member, in pieces, that verifies size and checksum at the end.
    final class MemberReader {
        private let name: String
        private let source: CompressedRangeReader
        private let inflater: Inflater?
        private let checksum: UInt
        private var sum = crc32(0, nil, 0)
        /// The number of bytes that remain to be read.
        private var left: Int

        fileprivate init(
            _ source: CompressedRangeReader,
            _ method: Int,
            _ bytes: Int,
            _ checksum: UInt,
            of name: String
        ) throws(NetworkError) {
            self.source = source
            self.checksum = checksum
            self.name = name
            left = bytes
            inflater = method == 0 ? nil : try Inflater(isBare: true)
        }

        /// Returns the next piece; `nil` at the end.
        func next() throws(NetworkError) -> Data? {
            let piece: Data?
            if let inflater {
                piece = try inflater.next { () throws(NetworkError) in try self.source.next() }
            } else {
                piece = try source.next()
            }
            guard let piece else {
                guard left == 0, sum == checksum else { throw ZipArchive.fault("\(name) is damaged") }
                return nil
            }
            left -= piece.count
            // Stops when the stated size is exceeded, as protection against small archives that expand to huge ones.
            guard left >= 0 else { throw ZipArchive.fault("\(name) is larger than the archive says") }
            sum = piece.withUnsafeBytes { crc32(sum, $0.bindMemory(to: UInt8.self).baseAddress, UInt32($0.count)) }
            return piece
        }
    }
}
