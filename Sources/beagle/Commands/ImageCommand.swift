import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import BeagleNetRequestBuilder
import Foundation

/// `beagle image`: an image.
struct ImageCommand: TransferCommand {
    static let configuration = CommandConfiguration(
        commandName: "image",
        abstract: "Fetch an image.",
        discussion: """
            FILE is written when all of the image is there; a transfer that fails, or a status that is no success, \
            leaves it as it was.

            EXAMPLE
              beagle image http://127.0.0.1:8080/img/banner.png -o banner.png
            """
    )

    @OptionGroup var address: Address
    @OptionGroup var continuationFlag: ContinuationFlag
    @OptionGroup var retries: RetryFlags
    @OptionGroup var flags: CommonFlags

    var kind: NetworkOperation.Kind { .image }
    var continuation: Continuation? { continuationFlag.continueAt }

    func validate() throws {
        if flags.output == nil && !flags.offline {
            throw ValidationError("Say where the image goes: '-o FILE', or '-o -' for standard output.")
        }
    }

    func request() throws -> TransferRequest {
        try address.build(.fetchImage)
    }

    func result(of received: ReceivedResponse, on console: Console) throws -> CommandResult {
        let type = received.contentType.isEmpty ? "no content type" : received.contentType.printable
        var note = "\(type), \(byteCount(Int64(received.count)))"
        if let file = received.file { note += " → \(file)" }
        if !received.contentType.lowercased().hasPrefix("image/") { note += " (not said to be an image)" }
        return CommandResult(json: received.json, output: received.output, note: note)
    }
}
