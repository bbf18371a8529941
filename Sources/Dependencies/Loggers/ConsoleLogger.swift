#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A logger that writes each message as one line to standard error.
///
/// Control characters are escaped, so that a server can neither forge a line nor control the terminal.
public struct ConsoleLogger: BeagleLogger {
    /// Creates a logger.
    public init() {}

    /// Writes the message.
    public func log(_ log: any LogType) {
        var line = Self.line(log)
        line.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = write(STDERR_FILENO, rest.baseAddress, rest.count)
                if count < 0 && errno == EINTR { continue }
                // If standard error is closed, there is no place to report it.
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
