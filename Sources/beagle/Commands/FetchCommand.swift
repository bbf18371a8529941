import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import BeagleNetRequestBuilder
import Foundation

/// The `beagle fetch` command, which fetches a screen.
struct FetchCommand: TransferCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Fetch a screen.",
        discussion: """
            Writes the screen's JSON, or its components with --tree. Exits with 101 if the response is not a screen.

            EXAMPLE
              beagle fetch http://127.0.0.1:8080/home --tree
              beagle fetch /home --base http://127.0.0.1:8080 --json
              beagle fetch http://127.0.0.1:8080/home --record session.bglog
            """
    )

    @OptionGroup var address: Address

    @Flag(name: .long, help: "Show the components as a tree, with the targets of their actions, and totals at the end.")
    var tree = false

    @OptionGroup var retries: RetryFlags
    @OptionGroup(title: "CACHE OPTIONS") var cache: CacheFlags
    @OptionGroup var flags: CommonFlags

    var kind: NetworkOperation.Kind { .component }
    var keepsBody: Bool { true }

    func request() throws -> TransferRequest {
        try address.build(.fetchComponent)
    }

    func result(of received: ReceivedResponse, on console: Console) throws -> CommandResult {
        let status = received.head.status
        // A 304 is the response to a conditional request, which a header option can make.
        if status.kind != .successful, status.kind != .redirection || status == .notModified {
            return CommandResult(json: received.json, output: received.output, note: received.head.statusLine)
        }
        _ = try received.screen(showsBody: !tree)
        guard tree else { return CommandResult(json: received.json, output: received.output) }
        let components = try ComponentTree(parsing: received.body)
        let lines = components.lines(style: console.styled) + [components.summaryLine]
        return CommandResult(json: components.json, output: Data("\(lines.joined(separator: "\n"))\n".utf8))
    }
}
