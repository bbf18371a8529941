import BeagleNet
import BeagleNetHTTP

/// The values of components and actions that a tree shows, which the library's walk through the screen collects.
enum ComponentNotes {
    enum Note: UInt8 {
        case title = 1, identifier, text, placeholder, localName, imageURL, name, url, direction, padding
        case path, route, routeURL, routePath, method, prefetch, routePrefetch
    }

    /// The vocabulary of the tool, with the members to show.
    static let vocabulary: ScreenVocabulary = {
        var vocabulary = ScreenVocabulary.standard
        vocabulary.note(components.map { ($0, $1, $2.rawValue) } + actions.map { (actionTypes, $0, $1.rawValue) })
        return vocabulary
    }()

    private static let screens = "beagle:screenComponent beagle:screen"
    private static let containers = "beagle:container beagle:scrollView beagle:simpleForm"

    private static let components: [(String, String, Note)] = [
        (screens, "navigationBar.title", .title), (screens, "identifier", .identifier),
        (containers, "style.flex.flexDirection", .direction), (containers, "style.padding.all.value", .padding),
        ("beagle:text beagle:button", "text", .text), ("beagle:textInput", "placeholder", .placeholder),
        ("beagle:image beagle:networkImage", "path", .path),
        ("beagle:image beagle:networkImage", "path.url", .imageURL),
        ("beagle:image beagle:networkImage", "name", .name), ("remote", "url", .imageURL),
        ("local", "mobileId", .localName),
        ("beagle:lazyComponent beagle:networkScreen", "path", .path), ("beagle:webView", "url", .url),
        ("beagle:formInput", "name", .name),
    ]

    /// Actions of any type, and those that have a table of their own.
    private static let actionTypes = """
        * beagle:pushView beagle:pushStack beagle:resetStack beagle:resetApplication beagle:popToView \
        beagle:openNativeRoute beagle:openExternalURL beagle:sendRequest beagle:formRemoteAction beagle:navigate \
        beagle:setContext
        """

    private static let actions: [(String, Note)] = [
        ("url", .url), ("path", .path), ("method", .method), ("shouldPrefetch", .prefetch), ("route", .route),
        ("route.url", .routeURL), ("route.path", .routePath), ("route.shouldPrefetch", .routePrefetch),
    ]
}

extension ScreenOutline.Element {
    /// Returns the text of a note, or `nil` if the member is missing or no string.
    func text(_ note: ComponentNotes.Note) -> String? { notes[note.rawValue]?.string }

    func value(_ note: ComponentNotes.Note) -> JSONValue? { notes[note.rawValue] }
}
