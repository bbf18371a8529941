import ArgumentParser

@main
struct Tool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "beagle",
        abstract: "Talks to a server-driven backend.",
        subcommands: [ServeCommand.self]
    )
}
