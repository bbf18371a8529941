/// The components and actions of a screen, in the order of the document, for the command line tool.
package struct ScreenOutline: Sendable {
    /// A component or an action.
    package struct Element: Sendable {
        /// The type as it is written, or an empty text for a screen whose position implies its type.
        package let type: String
        package let isAction: Bool
        /// Whether the element is data, such as a component in a context, which isn't shown.
        package let isData: Bool
        /// The innermost element around this one, or -1.
        package let parent: Int
        /// The names of the members that lead from the parent to this element.
        package let path: [String]
        /// The values that the vocabulary's notes select, as they are written in JSON, by the number of the note.
        package var notes: [UInt8: String] = [:]
    }

    package internal(set) var elements: [Element] = []
}
