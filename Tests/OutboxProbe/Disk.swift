#if canImport(Glibc)
    import Glibc
    import Synchronization

    /// What is between this program and its disk: it tells what is done, in lines of standard output, and fails as a full disk
    /// does where `BEAGLENET_DISK` names the step (`part`, `rename`, `outbox`). Without the variable it does nothing.
    ///
    /// The linker takes the functions below for those of the C library, which they call.
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

        /// - Returns: whether the step is to be done.
        static func tell(_ step: String, of what: String) -> Bool {
            OutboxProbe.say("\(step) \(what)")
            let isEarly = what == "outbox" && !isMoved.load(ordering: .relaxed)
            let isFull = fault == (step == "rename" ? step : what) && !isEarly
            if isFull { errno = ENOSPC }
            return !isFull
        }

        /// Whether anything was renamed: the directory is synced before, too.
        static let isMoved = Atomic(false)

        static func name(_ path: String) -> String {
            if path.hasSuffix(".part") { return "part" }
            return path == CommandLine.arguments[1] ? "outbox" : "other"
        }
    }

    /// Takes the place of `fsync`.
    @_cdecl("fsync") public func tellingSync(_ descriptor: Int32) -> Int32 {
        guard Disk.fault != nil else { return Disk.sync(descriptor) }
        return Disk.tell("fsync", of: Disk.name(Disk.path(of: descriptor))) ? Disk.sync(descriptor) : -1
    }

    /// Takes the place of `renameat`.
    @_cdecl("renameat") public func tellingRename(
        _ oldFolder: Int32,
        _ old: UnsafePointer<CChar>,
        _ newFolder: Int32,
        _ new: UnsafePointer<CChar>
    ) -> Int32 {
        guard Disk.fault != nil else { return Disk.move(oldFolder, old, newFolder, new) }
        guard Disk.tell("rename", of: Disk.name(String(cString: old))) else { return -1 }
        Disk.isMoved.store(true, ordering: .relaxed)
        return Disk.move(oldFolder, old, newFolder, new)
    }
#endif
