// Screens: parsing, the plan, and declared components.
import BeagleNet

func prefetch(_ client: any NetworkClient) async throws {
    // snippet.plan
    let request = Request(url: URL(string: "https://api.example.com/home")!, type: .fetchComponent)
    let response = try await client.executeRequest(request)
    let screen = try ParsedScreen(parsing: response.data)
    for reference in screen.plan.references where reference.isPrefetchable {
        print(reference.kind.rawValue, reference.resolvedURL ?? reference.url)
    }
    // snippet.end
}

func explain(_ screen: ParsedScreen) {
    // snippet.obstacles
    for reference in screen.plan.references {
        guard let obstacle = reference.obstacle else { continue }
        print("\(reference.pointer) (\(reference.when.rawValue)): \(obstacle.rawValue)")
    }
    // snippet.end
}

func declare(_ data: Data) throws -> ParsedScreen {
    // snippet.declare
    var vocabulary = ScreenVocabulary.standard
    try vocabulary.declare("custom:avatar.photoUrl", as: .image)
    try vocabulary.declare("custom:carousel.slides", as: .items)
    try vocabulary.declare("custom:carousel.view", as: .template)
    let screen = try ParsedScreen(parsing: data, vocabulary: vocabulary)
    // snippet.end
    return screen
}

func fetchScreen(_ views: ViewClient) async throws {
    // snippet.fetch
    let details = try await views.fetch("/details", as: JSONValue.self)
    if details.isStale { print("stored", details.age ?? .zero, "ago") }
    // snippet.end
}

func prefetchRoutes(_ views: ViewClient, _ screen: ParsedScreen, _ images: ImageLoader.Prefetcher) {
    // snippet.prefetch
    views.prefetch(screen.plan, from: "home", images: images)
    print(views.report(of: "home").wastedBytes)
    // snippet.end
}

func exclude() -> ViewClient {
    // snippet.rules
    var rules = ViewClient.PrefetchRules()
    rules.allows = { url in !url.path.hasPrefix("/sign-out") }
    let views = ViewClient(rules: rules)
    // snippet.end
    return views
}

func declareCapabilities(_ dependencies: BeagleDependencies) throws {
    // snippet.capabilities
    dependencies.screenCapabilities = try ScreenCapabilities(
        components: ["beagle:container", "beagle:text", .init("custom:avatar", version: "2")],
        actions: ["beagle:pushView", "beagle:sendRequest"]
    ) { finding in
        print(finding.kind.rawValue, finding.name, finding.screen)
    }
    // snippet.end
}

func allow(_ dependencies: BeagleDependencies, _ action: ScreenAction, _ home: ViewClient.FetchedScreen<JSONValue>)
    throws
{
    // snippet.permissions
    dependencies.screenRequestRules.standard.hosts["pay.example.com"] = [.get, .post]
    let context = ScreenContext(["user": ["id": 7]], screen: home.response.url)
    do {
        print(try action.request(in: context)?.url ?? "no request")
    } catch {
        if let refusal = error.underlying as? ScreenRequest.Rules.Refusal { print(refusal.rule, refusal.pointer) }
    }
    // snippet.end
}

func followHints() async throws -> JSONValue {
    // snippet.hints
    let views = ViewClient(hintedImages: ImageLoader())
    let home = try await views.fetch("/home", as: JSONValue.self)
    print(views.report().hinted, "images were started early,", views.report().failedHints, "failed")
    // snippet.end
    return home.screen
}

func openScreen(_ views: ViewClient, _ loader: ImageLoader, _ show: (JSONValue, ImageTask) async -> Void) async throws {
    // snippet.scope
    let home = views.open("home", images: loader)
    defer { home.close() }
    let screen = try await home.fetch(ScreenRequest("/home"), as: JSONValue.self).screen
    await show(screen, home.image(ImageRequest("/banner.png")))
    // snippet.end
}

func measure(_ home: ViewClient.Scope) async throws {
    // snippet.timing
    let timing = try await home.timing
    print("\(timing.name): screen \(timing.screen ?? .zero), ready \(timing.ready)")
    for load in timing.loads { print(load.target, load.duration, load.waiting, load.cause?.rawValue ?? "failed") }
    // snippet.end
}

func keepOffline() async throws {
    // snippet.offline
    let guide = ViewClient.OfflineSet("guide", routes: [ScreenRequest("/guide")], depth: 2)
    try await guide.refresh()
    for part in guide.missing { print(part.url, part.error.message) }
    // snippet.end
}

func follow(_ views: ViewClient, _ screen: JSONValue, _ show: (JSONValue, [String]) -> Void) async throws {
    // snippet.updates
    for try await update in try views.updates(from: "/home/updates", to: screen) {
        show(update.screen, update.changedIDs)
    }
    // snippet.end
}

func compare(_ stored: JSONValue, _ fresh: JSONValue) throws {
    // snippet.between
    if let update = ScreenUpdate.between(stored, and: fresh) {
        print(try update.applied(to: stored).changedIDs)
    }
    // snippet.end
}

func refresh(_ views: ViewClient, _ show: (ViewClient.FetchedScreen<JSONValue>) -> Void) async throws {
    // snippet.group
    let refreshes = ViewClient.LoadGroup(.replace)
    if let home = try await refreshes.run({ try await views.fetch("/home", as: JSONValue.self) }) { show(home) }
    // snippet.end
}
