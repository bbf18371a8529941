import ArgumentParser
import BeagleNet
import BeagleNetDiskCache
import BeagleNetHTTP
import Foundation

/// The `beagle cache verify` command, which checks all stored responses.
struct CacheVerifyCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check all stored responses against their digests, and remove damaged ones.",
        discussion: """
            Each damaged response is reported. The command then exits with 101, and with 0 if all are whole.

            EXAMPLE
              beagle fetch http://127.0.0.1:8080/cached --cache responses
              beagle cache verify responses
            """
    )

    @OptionGroup var source: CacheSource

    func result(in store: DiskResponseStore, on console: Console) async throws -> CommandResult {
        let verification = await store.verify()
        let json: [String: JSONValue] = [
            "checked": .integer(Int64(verification.checked)), "removed": .integer(Int64(verification.removed)),
        ]
        let counts = "checked \(counted(verification.checked, "response")), removed \(verification.removed)"
        guard verification.removed > 0 else {
            return CommandResult(json: .object(json), note: "\(source.directory): \(counts)")
        }
        var failure = Failure(
            exit: ExitCode.invalidContent,
            code: "damaged",
            phase: .file,
            "\(source.directory) had damaged responses: \(counts)"
        )
        failure.details = json
        throw failure
    }
}
