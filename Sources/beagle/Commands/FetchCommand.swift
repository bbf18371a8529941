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

            --html writes the screen as a page for a browser, with its layout, texts and images, but without actions. \
            Expressions whose values the screen contains are evaluated; others are highlighted. The screens, components \
            and texts that an action shows are in boxes that can be opened. The page contains up to 5 MB of images, and \
            needs no other file and no network. With --cache, it is also written if the stored screen is unchanged.

            EXAMPLE
              beagle fetch http://127.0.0.1:8080/home --tree
              beagle fetch /home --base http://127.0.0.1:8080 --json
              beagle fetch http://127.0.0.1:8080/home --html home.html
              beagle fetch http://127.0.0.1:8080/home --record session.bglog
            """
    )

    @OptionGroup var address: Address

    @Flag(name: .long, help: "Show the components as a tree, with the targets of their actions, and totals at the end.")
    var tree = false

    @Option(name: .long, help: ArgumentHelp("Write the screen as a page of HTML to this file.", valueName: "file"))
    var html: String?

    @OptionGroup var retries: RetryFlags
    @OptionGroup(title: "CACHE OPTIONS") var cache: CacheFlags
    @OptionGroup var response: ResponseFlags
    @OptionGroup var flags: CommonFlags

    var kind: NetworkOperation.Kind { .component }
    var keepsBody: Bool { true }

    func validate() throws {
        if html == "" || html == "-" { throw ValidationError("'--html' requires a file name.") }
    }

    func request() throws -> TransferRequest {
        try address.build(.fetchComponent)
    }

    func receive(_ request: TransferRequest, in session: Session) async throws -> ReceivedResponse {
        var request = request
        if html != nil, cache.folder != nil {
            // The page needs the screen. The cache adds the conditions of the stored one.
            for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince] { request.head.headerFields[fields: name] = [] }
        }
        let received = try await session.receive(request, keepsBody: keepsBody, from: nil, for: .init(kind: kind))
        guard let html else { return received }
        if received.head.status.kind == .successful {
            try await writePage(of: received, to: html, in: session)
        } else {
            session.console.note("beagle: \(html) was not written: status \(received.head.status.code)")
        }
        return received
    }

    private func writePage(of received: ReceivedResponse, to path: String, in session: Session) async throws {
        let site = try CrawlSite(address)
        let screen = try received.screen(showsBody: false)
        let root = try JSONValue(parsing: screen.document)
        defer { session.console.showBar("") }
        let images = try await ScreenImages(session: session, origin: site.origin, base: site.base)
            .images(of: screen.plan)
        let page = ScreenPage.html(of: root, changedContexts: screen.changedContexts, images: images)
        try FileSink.write(Data(page.utf8), to: path)
    }

    func result(of received: ReceivedResponse, on console: Console) throws -> CommandResult {
        let status = received.head.status
        // A 304 is the response to a conditional request, which a header option can make.
        if status.kind != .successful, status.kind != .redirection || status == .notModified {
            return CommandResult(json: received.json, output: received.output, note: received.head.statusLine)
        }
        _ = try received.screen(showsBody: !tree)
        guard tree else {
            return CommandResult(json: received.json, output: html == nil ? received.output : Data())
        }
        let components = try ComponentTree(parsing: received.body)
        let lines = components.lines(style: console.styled) + [components.summaryLine]
        return CommandResult(json: components.json, output: Data("\(lines.joined(separator: "\n"))\n".utf8))
    }
}
