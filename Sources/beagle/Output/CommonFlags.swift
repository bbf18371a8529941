import ArgumentParser
import BeagleNetHTTP
import Foundation

/// The flags of every command that sends one request, spelled as curl's.
struct CommonFlags: ParsableArguments {
    @Option(name: [.customShort("H"), .long], help: "A header `Name: value`; `Name:` takes one away. Repeatable.")
    var header: [HeaderLine] = []

    @Option(name: .shortAndLong, help: "Write the body to this file; - is standard output.")
    var output: String?

    @Flag(name: .shortAndLong, help: "Write the response's head before the body.")
    var include = false

    @Flag(name: .shortAndLong, help: "Write heads, secrets left out, and timings to standard error.")
    var verbose = false

    @Option(name: .long, help: ArgumentHelp("The whole transfer may take this long.", valueName: "seconds"))
    var maxTime: Double?

    @Option(name: .long, help: ArgumentHelp("Connecting may take this long.", valueName: "seconds"))
    var connectTimeout: Double?

    @Option(name: .long, help: ArgumentHelp("Trust only the authorities in this PEM file.", valueName: "file"))
    var cacert: String?

    @Flag(name: .long, help: "Ask for a compressed body. It always is; the flag is curl's.")
    var compressed = false

    @Flag(name: .customLong("http1.1"), help: "Speak HTTP/1.1.")
    var http1 = false

    @Flag(name: .customLong("http2"), help: "Speak HTTP/2: negotiated over TLS, else with prior knowledge.")
    var http2 = false

    @Flag(name: .long, help: "Write one JSON object on standard output, also when it fails.")
    var json = false

    @Flag(name: .long, help: "Show the request and send nothing. A terminal sees no secrets.")
    var offline = false

    @Option(name: .long, help: "Write in colour.")
    var color = ColorChoice.auto

    func validate() throws {
        if http1 && http2 { throw ValidationError("'--http1.1' and '--http2' exclude each other.") }
        for (name, seconds) in [("max-time", maxTime), ("connect-timeout", connectTimeout)] {
            guard let seconds, !(seconds > 0 && seconds <= 1e9) else { continue }
            throw ValidationError("'--\(name)' takes a number of seconds above 0.")
        }
    }

    /// The options of a transfer. Where `--max-time` is given it is the only limit, as it is with curl; what goes to
    /// a file may be of any size and take any time, as long as it goes on.
    var options: TransferOptions {
        var options = TransferOptions()
        if let output, output != "-" {
            options.maxBodyBytes = nil
            options.timeouts.total = nil
        }
        if let maxTime {
            options.timeouts = Timeouts(connect: nil, firstByte: nil, idle: nil, total: .seconds(maxTime))
        }
        if let connectTimeout { options.timeouts.connect = .seconds(connectTimeout) }
        if let cacert { options.trust = .file(path: cacert) }
        options.version = http1 ? .http1 : http2 ? .http2 : .automatic
        return options
    }

    /// What to try where a limit of the transfer was met.
    func advice(for error: NetworkError) -> String? {
        switch error.kind {
        case .timeout where connectTimeout != nil && [.resolve, .connect, .tls].contains(error.phase):
            "give it more time with --connect-timeout"
        case .timeout: "give it more time with --max-time"
        case .tls: "check the certificate and the host name; --cacert names a file of authorities to trust"
        case .tooLarge: "write it to a file with -o"
        default: error.advice
        }
    }

    /// Puts the headers of the command line into a message, instead of those of the same name.
    func apply(to head: inout HTTPRequest) {
        for name in Set(header.map(\.name)) { head.headerFields[fields: name] = [] }
        for line in header {
            guard let value = line.value else { continue }
            head.headerFields.append(HTTPField(name: line.name, value: value))
        }
    }
}

/// A header of the command line: `Name: value`, or `Name:` to take one away.
struct HeaderLine: ExpressibleByArgument {
    let name: HTTPField.Name
    let value: String?

    init?(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else { return nil }
        let value = parts[1].trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
        guard HTTPField.isValidValue(value) else { return nil }
        self.name = name
        self.value = value.isEmpty ? nil : value
    }
}
