// ThreadSanitizer has to see each `write` itself.
#if canImport(Glibc) && !SANITIZE_THREAD
    import BeagleNet
    import Glibc
    import Synchronization

    /// What is between this program and its disk: while there is a fault, what is written to the files that it names fails.
    ///
    /// The linker takes the function below for that of the C library, which it calls.
    enum Disk {
        /// What fails, and with which of the system's errors.
        struct Fault: Sendable {
            /// A part of the paths.
            let place: String
            let code: Int32
        }

        private static let current = Lock<Fault?>(nil)
        /// Asked first, as tests have this function as well.
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

        /// Whether nothing can be written to a file; `errno` says why.
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

    /// Takes the place of `write`.
    @_cdecl("write") public func faultyWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        if Disk.isFaulty.load(ordering: .acquiring), Disk.fails(descriptor) { return -1 }
        return Disk.write(descriptor, bytes, count)
    }
#endif
