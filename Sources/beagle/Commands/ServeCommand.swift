import ArgumentParser

/// The `beagle serve` command, which runs the demo backend.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the demo backend.",
        discussion: """
            Listens on 127.0.0.1 until interrupted, and prints its URL on the first line. GET / lists the routes, \
            including /graphql with queries, mutations and subscriptions (WebSocket and event stream), /cached, whose \
            response is fresh for one minute, /varied, whose response depends on Accept-Language, and /file, whose \
            response has 1 MiB. Images are fresh for one hour. GET routes with an ETag respond to If-None-Match with \
            304, and support Range and If-Range.

            EXAMPLE
              beagle serve &
              beagle fetch http://127.0.0.1:8080/home --tree
              beagle graphql http://127.0.0.1:8080/graphql -q '{ hero { name } }'
            """
    )

    @Option(help: "Port to listen on; 0 selects any free port.")
    var port: UInt16 = 8080

    func run() async throws {
        let (console, port) = (Console(), port)
        do {
            try await Interrupt.cancelling {
                try await Backend.serving(port: port) { url in
                    console.line(url)
                    try await Task.sleep(for: .seconds(1 << 31))
                }
            }
        } catch {
            let failure = Failure(wrapping: error)
            if !(error is Interrupt) { console.note(failure) }
            throw ExitCode(failure.exit)
        }
    }
}
