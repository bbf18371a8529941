#if canImport(Glibc)
    import Glibc
    import Synchronization

    /// Intercepts file system calls of this program: prints each one in a line, and fails like a full disk
    /// at the step that `BEAGLENET_DISK` names (`part`, `rename`, `outbox`). Without the variable it does nothing.
    ///
    /// The linker uses the functions below in place of the C library's functions, which they call.
    private enum Disk {
        static let fault = getenv("BEAGLENET_DISK").map { String(cString: $0) }
        static let sync = next("fsync", as: (@convention(c) (Int32) -> Int32).self)
        static let move = next(
            "renameat",
            as: (@convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>) -> Int32).self
        )

        private static func next<Function>(_ name: String, as type: Function.Type) -> Function {
            // RTLD_NEXT; both have been there since before C was a standard.
            unsafeBitCast(dlsym(UnsafeMutableRawPointer(bitPattern: -1), name), to: type)
        }

        static func path(of descriptor: Int32) -> String {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count)
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }

        /// Prints a step. Returns whether it should be executed.
        static func report(_ step: String, of item: String) -> Bool {
            OutboxProbe.say("\(step) \(item)")
            let isEarly = item == "outbox" && !isMoved.load(ordering: .relaxed)
            let isFull = fault == (step == "rename" ? step : item) && !isEarly
            if isFull { errno = ENOSPC }
            return !isFull
        }

        /// Whether a file was renamed. The directory is also synced before that.
        static let isMoved = Atomic(false)

        static func name(_ path: String) -> String {
            if path.hasSuffix(".part") { return "part" }
            return path == CommandLine.arguments[1] ? "outbox" : "other"
        }
    }

    /// Replaces `fsync`.
    @_cdecl("fsync") public func tellingSync(_ descriptor: Int32) -> Int32 {
        guard Disk.fault != nil else { return Disk.sync(descriptor) }
        return Disk.report("fsync", of: Disk.name(Disk.path(of: descriptor))) ? Disk.sync(descriptor) : -1
    }

    /// Replaces `renameat`.
    @_cdecl("renameat") public func tellingRename(
        _ oldFolder: Int32,
        _ old: UnsafePointer<CChar>,
        _ newFolder: Int32,
        _ new: UnsafePointer<CChar>
    ) -> Int32 {
        guard Disk.fault != nil else { return Disk.move(oldFolder, old, newFolder, new) }
        guard Disk.report("rename", of: Disk.name(String(cString: old))) else { return -1 }
        Disk.isMoved.store(true, ordering: .relaxed)
        return Disk.move(oldFolder, old, newFolder, new)
    }
#endif
