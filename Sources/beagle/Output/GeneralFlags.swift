import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// The options of a request that are in no other group.
struct GeneralFlags: ParsableArguments {
    @Option(
        name: [.customShort("H"), .long],
        help: "Add or replace a header with 'Name: value', or remove it with 'Name:'. Repeatable."
    )
    var header: [HeaderLine] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write the body to this file, unless the status is an error. '-' is standard output.",
            valueName: "file"
        )
    )
    var output: String?

    @Flag(name: .shortAndLong, help: "Write the response headers, secrets included, before the body.")
    var include = false

    @Flag(name: .shortAndLong, help: "Write headers, with secrets redacted, and timings to standard error.")
    var verbose = false

    @Option(
        name: [.customShort("m"), .long],
        help: ArgumentHelp("Maximum time allowed for the transfer.", valueName: "seconds")
    )
    var maxTime: Double?

    @Option(name: .long, help: ArgumentHelp("Maximum time allowed for the connection.", valueName: "seconds"))
    var connectTimeout: Double?

    @Option(
        name: .long,
        help: ArgumentHelp("Maximum size of the decoded body, such as 500, 10k, 2M or 1G bytes.", valueName: "bytes")
    )
    var maxFilesize: ByteSize?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "CA certificates (PEM) to verify the server with, instead of the system's.",
            valueName: "file"
        )
    )
    var cacert: String?

    @Flag(name: .long, inversion: .prefixedNo, help: "Request a compressed response, and decompress it.")
    var compressed = true

    @Flag(name: .customLong("http1.1"), help: "Use HTTP/1.1.")
    var http1 = false

    @Flag(name: .customLong("http2"), help: "Use HTTP/2: negotiated over TLS, or else with prior knowledge.")
    var http2 = false

    @Flag(name: .customLong("http3"), help: "Use HTTP/3 for https URLs if libcurl and the server support it.")
    var http3 = false

    @Flag(
        name: .long,
        help: "Write one JSON object to standard output, even on failure. Secrets in the response are not redacted."
    )
    var json = false

    @Flag(name: .long, help: "Show the request as HTTP/1.1 text, without secrets and body, instead of sending it.")
    var offline = false

    @Flag(name: .long, help: "Include secrets and the body in the output of --offline.")
    var showSecrets = false

    @Option(name: .long, help: "Use colour in the output.")
    var color = ColorChoice.auto

    /// The file that `-o` names; nil where the body goes to standard output.
    var file: String? { output == "-" ? nil : output }

    func validate() throws {
        if let index = header.firstIndex(where: { $0.name == nil }) {
            // It is not repeated: it may hold a secret.
            throw ValidationError("'-H' must be 'Name: value' or 'Name:'; header \(index + 1) is neither.")
        }
        if output == "" { throw ValidationError("'-o' requires a file name.") }
        if showSecrets && !offline { throw ValidationError("'--show-secrets' requires '--offline'.") }
        if [http1, http2, http3].count(where: \.self) > 1 {
            throw ValidationError("'--http1.1', '--http2' and '--http3' cannot be used together.")
        }
        for (name, seconds) in [("max-time", maxTime), ("connect-timeout", connectTimeout)] {
            guard let seconds, !(seconds > 0 && seconds <= 1e9) else { continue }
            throw ValidationError("'--\(name)' must be a number of seconds greater than 0.")
        }
    }
}

/// A header of the command line: `Name: value`, or `Name:` to take one away.
struct HeaderLine: ExpressibleByArgument {
    /// The field's name; nil where the line is no header.
    let name: HTTPField.Name?
    let value: String?

    init(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.dropFirst().first?.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
        let isHeader = value.map(HTTPField.isValidValue) ?? false
        name = isHeader ? HTTPField.Name(String(parts[0])) : nil
        self.value = value?.isEmpty == true ? nil : value
    }
}
