/// A row of a vocabulary: the meaning of one member of a type.
struct ScreenRule: Sendable, Hashable {
    /// The framework whose marker the object must have.
    enum Family: UInt8, Sendable, Hashable {
        case any, beagle, nimbus, imagePath
    }

    enum Meaning: Sendable, Hashable {
        /// The member has no references, components or actions.
        case skipped
        /// The member holds data, in which URLs are not requested.
        case data
        /// The URL of a reference, or an expression for it. Members such as the method belong to the same reference.
        case url(ReferenceKind)
        /// The URL of a reference, in which the framework doesn't evaluate expressions.
        case plainURL(ReferenceKind)
        /// An expression for the image's whole path, or its URL.
        case imagePath
        /// The URL of a GET, independent of other members.
        case reference(ReferenceKind)
        case method, headers, body
        /// A Boolean: whether the screen is to be prefetched.
        case prefetch
        /// A screen that takes the place of the one at the URL.
        case localScreen
        /// A screen that is shown if the request fails.
        case fallback
        /// The kind of navigation of Beagle 0.x.
        case navigationType
        /// The elements that templates are shown for.
        case items
        case iteratorName, indexName
        /// An array of alternatives, of which the first whose `case` is true is shown for an element.
        case alternatives
        /// A component, or components, shown for each element.
        case template
        case templateCase
        case contextID, contextValue
        /// The name, or a path that begins with the name, of a context that an action changes.
        case changedContext
        /// The actions that send a form.
        case submission
        /// The name of a form's input.
        case inputName
        /// A value that the command line tool shows.
        case note(UInt8)
    }

    /// The type, such as `beagle:image`, or `*` for any object.
    let type: String
    let path: [String]
    let meaning: Meaning
    let family: Family

    init(_ type: String, _ path: [String], _ meaning: Meaning, _ family: Family) {
        self.type = type
        self.path = path
        self.meaning = meaning
        self.family = family
    }

    /// Returns the rules of several types that have the same members.
    static func rules(_ family: Family, _ types: String, _ members: [(String, Meaning)]) -> [ScreenRule] {
        types.split(separator: " ").flatMap { type in
            members.map { ScreenRule(String(type), $0.split(separator: ".").map(String.init), $1, family) }
        }
    }
}

extension ScreenRule.Meaning {
    /// Creates the meaning of a role, or `nil` if the role is unknown.
    init?(_ role: ScreenVocabulary.Role) {
        switch role {
        case .image: self = .reference(.image)
        case .route: self = .reference(.route)
        case .lazy: self = .reference(.lazy)
        case .request: self = .reference(.request)
        case .items: self = .items
        case .template: self = .template
        default: return nil
        }
    }
}

/// A member that makes an object a component, an action or the path of an image.
struct ScreenMarker: Sendable, Hashable {
    enum Form: UInt8, Sendable, Hashable {
        case component, action, imagePath
        /// `NAMESPACE:component:NAME` or `NAMESPACE:action:NAME`, as before Beagle 1.0.
        case older
    }

    let name: String
    let form: Form
    let family: ScreenRule.Family
}
