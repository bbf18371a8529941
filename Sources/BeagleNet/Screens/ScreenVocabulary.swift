public import BeagleNetHTTP

/// The names of a server-driven UI framework that a screen is read with: its components, actions and the members that
/// hold URLs, contexts, templates and data.
///
/// A vocabulary is a table, so that an app can add its own components:
///
/// ```swift
/// var vocabulary = ScreenVocabulary.standard
/// try vocabulary.declare("custom:avatar.photoUrl", as: .image)
/// let screen = try ParsedScreen(parsing: data, vocabulary: vocabulary)
/// ```
///
/// Names of Beagle's components and actions are compared without regard to case, as Beagle does. Names of Nimbus, and
/// the names of members, must match exactly.
public struct ScreenVocabulary: Sendable, Hashable {
    /// The meaning of a member that an app declares: an open set, which includes the members below.
    public struct Role: RawRepresentable, Sendable, Hashable {
        /// The name of the role, which `beagle plan --custom` uses.
        public let rawValue: String

        /// Creates a role with a name. A name other than those below can't be declared.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The URL of an image.
        public static let image = Role(rawValue: "image")
        /// The URL of a screen that the component or action leads to. It is not prefetched.
        public static let route = Role(rawValue: "route")
        /// The URL of a component that is fetched when this one appears.
        public static let lazy = Role(rawValue: "lazy")
        /// The URL of a request for data, sent with GET.
        public static let request = Role(rawValue: "request")
        /// The array, or the expression for an array, whose elements the component's template shows.
        public static let items = Role(rawValue: "items")
        /// A component, or an array of components, shown once for each element of the items. The element is available
        /// as `item`, or by the name in the component's member `iteratorName`.
        public static let template = Role(rawValue: "template")
    }

    /// The vocabulary of Beagle 1.x, including forms and the screens from before 1.0 (`_beagleType_`).
    public static let beagle1 = ScreenVocabulary(beagleMarkers + olderMarkers, anyObject + beagle + beagle1Rules)
    /// The vocabulary of Beagle 2.x (`_beagleComponent_`, `_beagleAction_`).
    public static let beagle2 = ScreenVocabulary(beagleMarkers, anyObject + beagle + beagle2Rules)
    /// The vocabulary of Nimbus (`_:component`, `_:action`, and other members below `properties`).
    public static let nimbus = ScreenVocabulary(nimbusMarkers, anyObject + nimbusRules)
    /// The vocabularies of Beagle 1.x, Beagle 2.x and Nimbus together, which is the default.
    public static let standard = ScreenVocabulary(
        beagleMarkers + olderMarkers + nimbusMarkers,
        anyObject + beagle + beagle1Rules + beagle2Rules + nimbusRules
    )

    /// The maximum number of rules, so that the numbers of the table's nodes fit into 16 bits: each rule adds at
    /// most 17.
    private static let maxRules = 3_700

    private let markers: [ScreenMarker]
    private(set) var rules: [ScreenRule]
    private(set) var table: ScreenTable

    private init(_ markers: [ScreenMarker], _ rules: [ScreenRule]) {
        self.markers = markers
        self.rules = rules
        table = ScreenTable(markers, rules)
    }

    /// Declares the meaning of a member of a component or action that isn't part of the framework.
    ///
    /// - Parameters:
    ///   - key: The type, a full stop and the path of the member, such as `custom:avatar.photoUrl` or
    ///     `custom:carousel.slides.picture`. The path leads through arrays to each of their elements. For Nimbus, it
    ///     begins below `properties`.
    ///   - role: The meaning of the member. If it is declared already, the new role replaces the old one.
    /// - Throws: `NetworkError` of kind `.badConfiguration` if the key has no type or no member, its path is longer than
    ///   16 members, the role is unknown, or there are more than 1,000 declarations.
    public mutating func declare(_ key: String, as role: Role) throws(NetworkError) {
        guard let dot = key.firstIndex(of: "."), dot > key.startIndex else {
            throw .badDeclaration("\(key) has no type and member", "write TYPE.MEMBER, such as custom:avatar.photoUrl")
        }
        let path = key[key.index(after: dot)...].split(separator: ".", omittingEmptySubsequences: false).map(
            String.init
        )
        guard !path.contains("") else {
            throw .badDeclaration("\(key) has an empty member", "write TYPE.MEMBER, such as custom:avatar.photoUrl")
        }
        guard path.count <= 16, rules.count < Self.maxRules else {
            throw .badDeclaration(
                "\(key) is too much for a vocabulary",
                "declare at most 1,000 members, 16 levels deep"
            )
        }
        guard let meaning = ScreenRule.Meaning(role) else {
            throw .badDeclaration(
                "\(role.rawValue) is not a role",
                "use image, route, lazy, request, items or template"
            )
        }
        add(String(key[..<dot]), path, meaning)
    }

    /// Adds a rule for a type of the app, also below the `properties` of Nimbus.
    private mutating func add(_ type: String, _ path: [String], _ meaning: ScreenRule.Meaning) {
        rules.append(ScreenRule(type, path, meaning, .any))
        rules.append(ScreenRule(type, ["properties"] + path, meaning, .any))
        if case .template = meaning {
            rules.append(ScreenRule(type, ["iteratorName"], .iteratorName, .any))
            rules.append(ScreenRule(type, ["properties", "iteratorName"], .iteratorName, .any))
        }
        table = ScreenTable(markers, rules)
    }

    /// Declares members whose values the command line tool shows: numbers from 1 by types and path.
    package mutating func note(_ notes: [(types: String, path: String, note: UInt8)]) {
        for (types, path, note) in notes { rules += ScreenRule.rules(.any, types, [(path, .note(note))]) }
        table = ScreenTable(markers, rules)
    }

    /// Whether two vocabularies have the same markers and rules.
    public static func == (left: Self, right: Self) -> Bool {
        left.markers == right.markers && left.rules == right.rules
    }

    /// Hashes the markers and rules.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(markers)
        hasher.combine(rules)
    }
}

extension NetworkError {
    fileprivate static func badDeclaration(_ message: String, _ advice: String) -> NetworkError {
        NetworkError(.badConfiguration, during: .build, message, advice: advice)
    }
}
