// Not with ThreadSanitizer, which must intercept each `write` itself.
#if canImport(Glibc) && !SANITIZE_THREAD
    import BeagleNet
    import Glibc
    import Synchronization

    /// Intercepts writes of this program: during a fault, writes to the files that it names fail.
    ///
    /// The linker uses the function below in place of the C library's function, which it calls.
    enum Disk {
        /// The files whose writes fail, and the system's error code.
        struct Fault: Sendable {
            /// A part of the paths.
            let place: String
            let code: Int32
        }

        private static let current = Lock<Fault?>(nil)
        /// Checked first, because the tests link this function as well.
        fileprivate static let isFaulty = Atomic(false)

        static func set(_ fault: Fault?) {
            current.withLock { $0 = fault }
            isFaulty.store(fault != nil, ordering: .releasing)
        }

        fileprivate static let write = unsafeBitCast(
            // RTLD_NEXT; it has been there since before C was a standard.
            dlsym(UnsafeMutableRawPointer(bitPattern: -1), "write"),
            to: (@convention(c) (Int32, UnsafeRawPointer?, Int) -> Int).self
        )

        /// Whether writing to a file fails. Sets `errno` if it does.
        fileprivate static func fails(_ descriptor: Int32) -> Bool {
            guard let fault = current.withLock({ $0 }), path(of: descriptor).contains(fault.place) else { return false }
            errno = fault.code
            return true
        }

        private static func path(of descriptor: Int32) -> String {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count)
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
    }

    /// Replaces `write`.
    @_cdecl("write") public func faultyWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        if Disk.isFaulty.load(ordering: .acquiring), Disk.fails(descriptor) { return -1 }
        return Disk.write(descriptor, bytes, count)
    }
#endif
