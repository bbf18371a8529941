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
