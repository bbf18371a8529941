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
        guard received.head.status.kind == .successful else {
            // A 304 is the response to a conditional request, which a header option can make.
            let status = received.head.status
            if status.kind == .redirection, status != .notModified { throw notFollowed(received) }
            return CommandResult(json: received.json, output: received.output, note: received.head.statusLine)
        }
        let components = try components(of: received)
        guard tree else { return CommandResult(json: received.json, output: received.output) }
        let lines = components.lines(style: console.styled) + [components.summaryLine]
        return CommandResult(json: components.json, output: Data("\(lines.joined(separator: "\n"))\n".utf8))
    }

    private func notAScreen(_ received: ReceivedResponse) -> Failure {
        var failure = Failure(exit: ExitCode.invalidContent, code: "not_a_screen", phase: .decode, "")
        failure.url = received.url
        if !tree { failure.output = received.output }
        return failure
    }

    private func notFollowed(_ received: ReceivedResponse) -> Failure {
        var failure = notAScreen(received)
        failure.message =
            "the response is not a screen but a redirect that was not followed: \(received.head.statusLine)"
        failure.advice = received.head.headerFields.contains(.location) ? "increase --max-redirs" : nil
        return failure
    }

    private func components(of received: ReceivedResponse) throws -> ComponentTree {
        var failure = notAScreen(received)
        let value: JSONValue
        do throws(NetworkError) {
            value = try JSONValue(parsing: received.body)
        } catch {
            let type = received.contentType.isEmpty ? "no content type" : received.contentType
            failure.message = "the response is not a screen (\(type)): \(error.message)"
            throw failure
        }
        if let components = ComponentTree(value) { return components }
        if let action = ComponentType(ofAction: value) {
            failure.message = "the response is not a screen but the action \(action.name)"
        } else {
            failure.message = "the response is JSON but not a screen: its root has no _beagleComponent_"
            failure.advice = "use 'beagle raw' for other responses"
        }
        throw failure
    }
}
