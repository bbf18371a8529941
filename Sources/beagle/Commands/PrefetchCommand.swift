import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import BeagleNetRequestBuilder
import Foundation

/// The `beagle prefetch` command, which stores a screen and the screens that it leads to.
struct PrefetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prefetch",
        abstract: "Store a screen, the screens that it leads to, and their images, for use without a network.",
        discussion: """
            Fetches the screen, the routes and lazy components whose URLs are known, and their images with --images, \
            into the directory of --cache. Only GET requests are sent. The headers and credentials of the command line \
            are sent to the origin of the first screen only. Stored responses that are fresh are not fetched again. \
            Lists what is stored, and what is not with the reason. Exits with 107 if something is missing.

            Afterwards, the other commands show the screens with the same --cache, and with '--cache-mode cache-only' \
            without using the network.

            EXAMPLE
              beagle prefetch http://127.0.0.1:8080/home --images --cache responses
              beagle fetch http://127.0.0.1:8080/details --cache responses \\
                --cache-mode cache-only
            """
    )

    @OptionGroup var address: Address

    @Option(name: .long, help: ArgumentHelp("Maximum number of routes from the first screen.", valueName: "number"))
    var depth = 2

    @Flag(name: .long, help: "Store images too.")
    var images = false

    @Option(
        name: .long,
        help: ArgumentHelp("Maximum number of screens, lazy components and images.", valueName: "number")
    )
    var maxParts = 500

    @OptionGroup var vocabulary: VocabularyFlags
    @OptionGroup var retries: RetryFlags
    @OptionGroup(title: "CACHE OPTIONS") var cache: CacheStoreFlags
    @OptionGroup var basic: BasicFlags
    @OptionGroup var transfer: TransferFlags

    private var flags: CommonFlags { CommonFlags(basic, transfer: transfer) }

    func validate() throws {
        if cache.folder == nil {
            throw ValidationError("Name the directory for the responses with '--cache DIRECTORY'.")
        }
        if depth < 0 { throw ValidationError("'--depth' must be 0 or greater.") }
        if maxParts < 1 { throw ValidationError("'--max-parts' must be 1 or greater.") }
    }

    func run() async throws {
        let flags = self.flags
        let session = Session(flags, retries.interceptors)
        do {
            let result = try await Interrupt.cancelling { try await self.result(in: session) }
            session.show(result)
        } catch {
            let failure = flags.failure(for: error)
            session.show(failure)
            throw ExitCode(failure.exit)
        }
    }

    private func result(in session: Session) async throws -> CommandResult {
        let site = try CrawlSite(address)
        let fetched = try await session.withSavedState {
            try await walk(site, in: session) { set throws(NetworkError) in try await set.refresh() }
        }
        // The memory of the first walk also has responses that the disk may not have, such as those with credentials.
        let stored = try await walk(site, in: session) { set throws(NetworkError) in try await set.check() }
        return try PrefetchSummary(stored, after: fetched).result(hasUser: cache.user != nil, on: session.console)
    }

    /// Walks through the screens with a cache that has only what is on the disk.
    private func walk(
        _ site: CrawlSite,
        in session: Session,
        _ work: (ViewClient.OfflineSet) async throws(NetworkError) -> Void
    ) async throws -> ViewClient.OfflineSet {
        guard let cache = try SessionCache.open(CacheFlags(cache), servesStale: false, session.console) else {
            throw ValidationError("Name the directory for the responses with '--cache DIRECTORY'.")
        }
        var route = ScreenRequest(site.start.absoluteString)
        route.partition = cache.user
        let set = ViewClient.OfflineSet(
            "prefetch",
            routes: [route],
            depth: depth,
            includesImages: images,
            maxParts: maxParts,
            vocabulary: try vocabulary.vocabulary(),
            client: try session.client(cache, base: site.base, credentialsFor: site.origin)
        )
        do throws(NetworkError) {
            try await work(set)
        } catch {
            await cache.finish()
            throw error
        }
        await cache.finish()
        return set
    }
}
