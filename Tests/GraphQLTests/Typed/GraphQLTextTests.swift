import BeagleNetGraphQL
import Testing

struct GraphQLTextTests {
    private struct Author: Decodable {
        let id: String
        let name: String
    }

    private struct Person: Decodable {
        let friend: [Person]
    }

    private static let avatar = GraphQLSelection.Fragment("Avatar", on: "Image", "{ url }")
    private static let author = GraphQLSelection.Fragment("AuthorParts", on: "User", "{ id avatar { \(avatar) } }")

    @Test func fragmentsAreSpreadAndDefinedOnce() throws {
        let text: GraphQLText = "query Q { a { \(Self.author) } b { \(Self.author) } c { \(Self.avatar) } }"
        #expect(
            text.description == """
                query Q { a { ...AuthorParts } b { ...AuthorParts } c { ...Avatar } }
                fragment AuthorParts on User { id avatar { ...Avatar } }
                fragment Avatar on Image { url }
                """
        )
        #expect(try text.document().fragments == ["AuthorParts", "Avatar"])
    }

    @Test func nestedTextsKeepTheirFragments() throws {
        let part: GraphQLText = "a { \(Self.avatar) }"
        let text: GraphQLText = "{ \(part) b { \(Self.avatar) } }"
        #expect(text.description == "{ a { ...Avatar } b { ...Avatar } }\nfragment Avatar on Image { url }")
    }

    @Test func selectionOfATypeIsInsertedUnlessTheTypeIsALeaf() throws {
        let text: GraphQLText = "{ post { author \(selectionOf: [Author].self) count \(selectionOf: Int.self)} }"
        #expect(text.description == "{ post { author { id name } count } }")
        let fragment = GraphQLSelection.Fragment("A", on: "User", selectionOf: Author.self)
        let other: GraphQLText = "{ a { \(fragment) } }"
        #expect(other.description == "{ a { ...A } }\nfragment A on User { id name }")
    }

    private struct Post: Decodable {
        let title: String
        let authors: [Author]
    }

    @Test func fieldsOfASelectedTypeMayHaveArguments() throws {
        let text: GraphQLText = """
            query Q($n: Int) { post \(selectionOf: Post.self, arguments: ["authors": ["first": .variable("n")], "authors.name": ["short": true]]) }
            """
        #expect(
            text.description
                == "query Q($n: Int) { post { title authors(first: $n) { id name(short: true) } } }"
        )
        for path in ["nobody", "authors.nobody", "title.name", ""] {
            let error = #expect(throws: NetworkError.self) {
                try GraphQLSelection.of(Post.self, arguments: [path: ["a": 1]])
            }
            #expect(error?.message.hasSuffix("arguments are given for \(path), which the type does not read") == true)
        }
    }

    @Test func builtSelectionIsInserted() throws {
        let selection = GraphQLSelection {
            "id"
            Self.avatar
        }
        let text: GraphQLText = "{ image \(selection) }"
        #expect(text.description == "{ image { id ...Avatar } }\nfragment Avatar on Image { url }")
        let broken: GraphQLText = "{ image \(GraphQLSelection { "a b" }) }"
        #expect(throws: NetworkError.self) { try broken.document() }
    }

    @Test func underivableSelectionThrowsWhenTheTextIsParsed() {
        let text: GraphQLText = "{ person \(selectionOf: Person.self) }"
        let error = #expect(throws: NetworkError.self) { try text.document() }
        #expect(error?.message.contains("cannot derive a selection for Person") == true)
        // The description of the text is not a valid document either, nor is a text that contains it.
        #expect(throws: NetworkError.self) { try GraphQLDocument(parsing: text.description) }
        let outer: GraphQLText = "{ a { \(GraphQLSelection.Fragment("F", on: "P", text)) } }"
        #expect(throws: NetworkError.self) { try outer.document() }
    }

    @Test func differentFragmentsWithTheSameNameThrow() {
        let other = GraphQLSelection.Fragment("Avatar", on: "Image", "{ width }")
        let text: GraphQLText = "{ a { \(Self.avatar) \(other) } }"
        let error = #expect(throws: NetworkError.self) { try text.document() }
        #expect(error?.message.contains("there is more than one fragment named Avatar") == true)
    }

    @Test func verbatimTextIsUnchanged() {
        let name = "posts"
        let text: GraphQLText = "{ \(verbatim: name) { id } }"
        #expect(text.description == "{ posts { id } }")
        #expect(GraphQLText(verbatim: "{ a }") == "{ a }")
    }
}
