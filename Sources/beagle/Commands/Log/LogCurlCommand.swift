import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// The `beagle log curl` command, which writes an entry as a curl command.
struct LogCurlCommand: LogSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "curl",
        abstract: "Write the request of an entry as a curl command.",
        discussion: """
            The command is for a POSIX shell and sends the same bytes. It reads redacted secrets from variables named \
            after the fields, such as TOKEN, and does not run if they are not set.

            EXAMPLE
              beagle log curl session.bglog 1 > request.sh && sh request.sh
            """
    )

    @OptionGroup var source: LogSource

    @Argument(help: "Number or id of the entry.")
    var entry: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Write the body to a file in this directory, and have curl send that file.",
            valueName: "directory"
        )
    )
    var outputDir: String?

    func result(on console: Console) throws -> CommandResult {
        let recording = try source.recording(on: console)
        let item = try source.entry(entry, of: recording)
        var (data, file, note): (Data?, String?, String?)
        if let body = item.entry.request.body {
            do throws(NetworkError) {
                data = try recording.data(of: body, redactedBy: source.redactor)
            } catch {
                note = "beagle: the command has no body: \(error.message)".printable
            }
        }
        if let outputDir, let data, !data.isEmpty {
            try PrivateFile.makeDirectory(outputDir)
            let body = PrivateFile("body-\(item.number)", in: ConfinedFolder(path: outputDir))
            try body.write(data)
            file = body.path
        }
        let command = item.entry.curlCommand(body: data, bodyFile: file)
        var result = CommandResult(json: .object(["command": .string(command)]), output: Data("\(command)\n".utf8))
        result.note = note
        return result
    }

    func validate() throws {
        if outputDir == "" { throw ValidationError("'--output-dir' requires a directory name.") }
    }
}
