import ArgumentParser

@main
struct Tool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "beagle",
        abstract: "Talks to a server-driven backend.",
        discussion: """
            Results go to standard output, everything else to standard error.

            EXAMPLE
              beagle demo
              beagle fetch http://127.0.0.1:8080/home --tree

            EXIT CODES
              0     done
              1-99  the transfer failed; libcurl's number: 6 host not found, 7 no connection, 28 time is up, …
              22    an HTTP status of 400 or above
              64    the command line cannot be understood
              101   the answer is no screen
              130   interrupted
            """,
        subcommands: [
            FetchCommand.self, SubmitCommand.self, ImageCommand.self, RawCommand.self, BatchCommand.self,
            ServeCommand.self, DemoCommand.self,
        ]
    )
}
