#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Writes each message as one line to standard error.
///
/// Control characters are shown as escapes: what a server sends can neither forge a line nor command a terminal.
public struct ConsoleLogger: BeagleLogger {
    /// Writes to standard error.
    public init() {}

    /// Writes the message.
    public func log(_ log: any LogType) {
        var line = Self.line(log)
        line.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = write(STDERR_FILENO, rest.baseAddress, rest.count)
                if count < 0 && errno == EINTR { continue }
                // A closed standard error takes no message, and there is nowhere else to say so.
                guard count > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            }
        }
    }

    static func line(_ log: any LogType) -> String {
        var line = "\(log.level) \(log.category): "
        for scalar in log.message.unicodeScalars {
            if scalar.properties.generalCategory == .control {
                line += scalar.escaped(asASCII: true)
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
        return line + "\n"
    }
}
