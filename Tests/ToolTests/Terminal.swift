import Foundation
import Testing

/// A pseudo-terminal: `read()` returns the bytes written to `slave`.
final class Terminal {
    let slave: FileHandle
    private let master: FileHandle

    init() throws {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(master >= 0)
        self.master = FileHandle(fileDescriptor: master, closeOnDealloc: true)
        let slave = open(try Self.slavePath(of: master), O_RDWR | O_NOCTTY)
        try #require(slave >= 0)
        self.slave = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
    }

    private static func slavePath(of master: Int32) throws -> String {
        #if canImport(Darwin)
            try #require(grantpt(master) == 0 && unlockpt(master) == 0)
            return String(cString: ptsname(master))
        #else
            // The work of unlockpt and ptsname, which the Glibc module lacks: TIOCSPTLCK and TIOCGPTN.
            var lock: Int32 = 0
            var number: UInt32 = 0
            try #require(ioctl(master, 0x4004_5431, &lock) == 0 && ioctl(master, 0x8004_5430, &number) == 0)
            return "/dev/pts/\(number)"
        #endif
    }

    /// Reads the text that was written since the last call.
    func read() -> String {
        _ = fcntl(master.fileDescriptor, F_SETFL, O_NONBLOCK)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = Foundation.read(master.fileDescriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
