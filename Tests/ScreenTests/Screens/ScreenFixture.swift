import BeagleNetHTTP

@testable import BeagleNet

/// Builds the JSON of screens from their parts.
enum ScreenFixture {
    /// Returns a component of Beagle with these members.
    static func component(_ type: String, _ members: String = "") -> String {
        #"{"_beagleComponent_": "\#(type)"\#(members.isEmpty ? "" : ", \(members)")}"#
    }

    /// Returns a Beagle button with an action.
    static func button(_ type: String, _ members: String = "") -> String {
        let action = #"{"_beagleAction_": "\#(type)"\#(members.isEmpty ? "" : ", \(members)")}"#
        return component("beagle:button", #""onPress": [\#(action)]"#)
    }

    /// Returns a component of Nimbus with these properties.
    static func nimbus(_ type: String, _ properties: String, _ members: String = "") -> String {
        #"{"_:component": "\#(type)", "properties": {\#(properties)}\#(members.isEmpty ? "" : ", \(members)")}"#
    }

    /// Returns a remote image of Beagle.
    static func image(_ url: String) -> String {
        component("beagle:image", #""path": {"_beagleImagePath_": "remote", "url": "\#(url)"}"#)
    }

    static func container(_ children: String, _ members: String = "") -> String {
        component("beagle:container", #""children": [\#(children)]\#(members.isEmpty ? "" : ", \(members)")"#)
    }

    static func parse(
        _ json: String,
        _ vocabulary: ScreenVocabulary = .standard
    ) throws(NetworkError) -> ParsedScreen {
        try ParsedScreen(parsing: Data(json.utf8), vocabulary: vocabulary)
    }

    /// Returns the references of a screen, each as its kind, time, URL and obstacle.
    static func lines(_ json: String, _ vocabulary: ScreenVocabulary = .standard) throws(NetworkError) -> [String] {
        try parse(json, vocabulary).plan.references.map { reference in
            let url = reference.resolvedURL ?? "? \(reference.url)"
            let obstacle = reference.obstacle?.rawValue ?? "ok"
            let method = reference.method == "GET" ? "" : " \(reference.method)"
            return "\(reference.kind.rawValue) \(reference.when.rawValue)\(method) \(url): \(obstacle)"
        }
    }
}
