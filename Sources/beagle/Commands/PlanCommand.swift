import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// The `beagle plan` command, which lists what a screen needs from the network.
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "List the images, routes and requests of a screen, or compare two screens.",
        discussion: """
            Writes a line for each reference to the network: its kind, when it is needed, its method and URL, whether \
            it can be prefetched or why not, and its position as a JSON pointer. Values of expressions are taken from \
            the contexts and lists of the screen; URLs whose value is not known are shown as they are written. URLs \
            in members that are neither the framework's nor declared with --custom have the kind 'unknown'. Exits \
            with 101 if the document is not a screen. The lines are written to standard output, or to the -o file.

            With --diff, writes the references that only the first screen (-) or only the second (+) has, and those \
            of both with other events, headers, fields or another body (~), and exits with 104 if there are any. With \
            --images, or if a recording is replayed, the images of both screens are loaded to compare their sizes.

            EXAMPLE
              beagle plan http://127.0.0.1:8080/home
              beagle plan home.json --json
              beagle plan home.json --custom custom:avatar.photoUrl=image
              beagle plan --diff http://127.0.0.1:8080/home https://staging.example.com/home
              beagle plan --diff --images http://127.0.0.1:8080/home https://example.com/home
            """
    )

    @Argument(help: "File or URL of the screen, '-' for standard input; two with --diff.")
    var screens: [String] = []

    @Flag(name: .long, help: "Compare the references of two screens.")
    var diff = false

    @Flag(name: .long, help: "With --diff, load the images that both screens have, and compare their sizes.")
    var images = false

    @OptionGroup var vocabulary: VocabularyFlags

    @Option(name: .long, help: "Base URL for paths, such as http://HOST:PORT.")
    var base: String?

    @OptionGroup var retries: RetryFlags
    @OptionGroup var response: ResponseFlags
    @OptionGroup var flags: CommonFlags

    func validate() throws {
        guard screens.count == (diff ? 2 : 1) else {
            throw ValidationError(diff ? "'--diff' requires two screens." : "Name one screen: a file, a URL or '-'.")
        }
        if screens.contains("") { throw ValidationError("The name of a screen is empty.") }
        if flags.json, response.file != nil { throw ValidationError("'--json' and '-o' cannot be used together.") }
        if images, !diff { throw ValidationError("'--images' requires '--diff'.") }
        if screens == ["-", "-"] { throw ValidationError("Only one screen can be standard input.") }
        if diff, response.preview.offline { throw ValidationError("'--offline' and '--diff' cannot be used together.") }
    }

    func run() async throws {
        // The -o file is for the plan, not for the screens.
        let session = Session(flags, retries.interceptors, isOffline: response.preview.offline)
        do {
            let result = try await Interrupt.cancelling { try await self.writtenResult(in: session) }
            session.show(result)
        } catch {
            let failure = flags.failure(for: error)
            session.show(failure)
            throw ExitCode(failure.exit)
        }
    }

    /// Writes the output to the `-o` file, if there is one.
    private func writtenResult(in session: Session) async throws -> CommandResult {
        guard let path = response.file else { return try await result(in: session) }
        do {
            var result = try await result(in: session)
            try FileSink.write(result.output, to: path)
            result.output = Data()
            return result
        } catch var failure as Failure where failure.exit == ExitCode.different {
            try FileSink.write(failure.output, to: path)
            failure.output = Data()
            throw failure
        }
    }

    private func result(in session: Session) async throws -> CommandResult {
        let vocabulary = try vocabulary.vocabulary()
        let sources = screens.map { ScreenSource(argument: $0, base: base, vocabulary: vocabulary) }
        if response.preview.offline, sources[0].isURL {
            return try await OfflineRequest(sources[0].request(flags), showsSecrets: response.preview.showSecrets)
                .result
        }
        let (screen, received) = try await sources[0].screen(in: session)
        if diff {
            let (other, _) = try await sources[1].screen(in: session)
            var sizes = ImageSizes()
            if images || session.isOffline {
                defer { session.console.showBar("") }
                let loaders = try sources.map { try $0.images(in: session) }
                try await sizes.compare(screen.plan, loaders[0], other.plan, loaders[1])
            }
            return try PlanDifference(from: screen.plan, to: other.plan, sizes).result(on: session.console)
        }
        var result = PlanReport(screen).result(on: session.console)
        if response.include, let received { result.output = Data(received.headText.utf8) + result.output }
        return result
    }
}
