import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// The options of every command that sends requests or opens a WebSocket, with curl's names.
struct BasicFlags: ParsableArguments {
    @Option(
        name: [.customShort("H"), .long],
        help: "Add or replace a header with 'Name: value', or remove it with 'Name:'. Repeatable."
    )
    var header: [HeaderLine] = []

    @Flag(name: .shortAndLong, help: "Write headers, with secrets redacted, and timings to standard error.")
    var verbose = false

    @Option(
        name: [.customShort("m"), .long],
        help: ArgumentHelp("Maximum time allowed for the transfer.", valueName: "seconds")
    )
    var maxTime: Double?

    @Option(name: .long, help: ArgumentHelp("Maximum time allowed for the connection.", valueName: "seconds"))
    var connectTimeout: Double?

    @OptionGroup var speed: SpeedFlags

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

    @OptionGroup(title: "ACCESS OPTIONS") var access: AccessFlags

    @OptionGroup(title: "CONNECTION OPTIONS") var connection: ConnectionFlags
    @OptionGroup(title: "RECORDING OPTIONS") var recording: RecordingFlags

    @Flag(
        name: .long,
        help: "Write one JSON object to standard output, even on failure. Secrets in the response are not redacted."
    )
    var json = false

    @Option(name: .long, help: "Use colour in the output.")
    var color = ColorChoice.auto

    func validate() throws {
        if let index = header.firstIndex(where: { $0.name == nil }) {
            // The message doesn't repeat the header, which may be secret.
            throw ValidationError("'-H' must be 'Name: value' or 'Name:'; header \(index + 1) is neither.")
        }
        for (name, seconds) in [("max-time", maxTime), ("connect-timeout", connectTimeout)] {
            guard let seconds, !(seconds > 0 && seconds <= 1e9) else { continue }
            throw ValidationError("'--\(name)' must be a number of seconds greater than 0.")
        }
    }
}

/// A header of the command line: `Name: value`, or `Name:` to remove it.
struct HeaderLine: ExpressibleByArgument {
    /// The field's name, or `nil` if the line isn't a valid header.
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
