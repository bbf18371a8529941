package import BeagleNetHTTP

/// The components and actions of a screen, in the order of the document, for the command line tool.
package struct ScreenOutline: Sendable {
    /// A component or an action.
    package struct Element: Sendable {
        /// The type, or an empty text for a screen whose position implies its type.
        package let type: String
        package let isAction: Bool
        /// Whether the element is data, such as a component in a context, which isn't shown.
        package let isData: Bool
        /// The innermost element around this one, or -1.
        package let parent: Int
        /// The names of the members that lead from the parent to this element.
        package let path: [String]
        /// The values that the vocabulary's notes select, by the number of the note.
        package internal(set) var notes: [UInt8: JSONValue] = [:]
        /// Whether the element is an image of the app, for which there is no request.
        package internal(set) var isLocalImage = false
    }

    package internal(set) var elements: [Element] = []
}
