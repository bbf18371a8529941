#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The work of a client, read from the command line that all clients share.
public struct Arguments: Sendable {
    /// The shape of the work.
    public enum Shape: String, Sendable {
        /// Small answers in a closed loop.
        case small
        /// Large answers, which are read and discarded.
        case big
        /// Many slow answers together, for the memory that one takes.
        case waiting
        /// Small answers in a closed loop beside streams that are silent.
        case parked
        /// One request of a new process.
        case cold
    }

    /// The shape of the work.
    public var shape = Shape.small
    /// The URL of a request.
    public var url = ""
    /// The number of requests.
    public var requests = 1_000
    /// The number of requests in flight at any time.
    public var tasks = 1
    /// The number of silent streams beside the requests.
    public var parked = 0
    /// The URL of a silent stream.
    public var parkedURL = ""
    /// Whether to use HTTP/2.
    public var isHTTP2 = false
    /// The PEM file of the trusted authorities, or `nil` for the system's.
    public var authorities: String?
    /// The kind of request, for clients with several.
    public var variant = ""

    /// Reads the process's command line. An invalid one ends the process with code 64.
    public init() {
        var words = CommandLine.arguments.dropFirst().makeIterator()
        func value<Value>(of option: String, _ read: (String) -> Value?) -> Value {
            guard let value = words.next().flatMap(read) else { usage("\(option) needs a value") }
            return value
        }
        while let option = words.next() {
            switch option {
            case "--shape": shape = value(of: option, Shape.init)
            case "--url": url = value(of: option, \.self)
            case "--requests": requests = value(of: option) { Int($0) }
            case "--tasks": tasks = value(of: option) { Int($0) }
            case "--parked": parked = value(of: option) { Int($0) }
            case "--parked-url": parkedURL = value(of: option, \.self)
            case "--http2": isHTTP2 = true
            case "--authorities": authorities = value(of: option, \.self)
            case "--variant": variant = value(of: option, \.self)
            default: usage("unknown option \(option)")
            }
        }
        guard !url.isEmpty, requests > 0, tasks > 0 else { usage("--url, and at least one request and task") }
    }
}

private func usage(_ message: String) -> Never {
    printError(
        """
        \(message)
        usage: [--shape small|big|waiting|parked|cold] --url URL [--requests N] [--tasks N] \
        [--parked N --parked-url URL] [--http2] [--authorities PEM] \
        [--variant NAME]
        """
    )
    exit(64)
}
