import BeagleNetGraphQL
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct GraphQLNullableTests {
    private struct Change: Encodable {
        var title: GraphQLNullable<String> = .none
        var count: GraphQLNullable<Int> = .none
        var tags: GraphQLNullable<[String]> = .none
        var ratio: GraphQLNullable<Double> = .none
        var isPublic: GraphQLNullable<Bool> = .none
        var inner: GraphQLNullable<[GraphQLNullable<Int>]> = .none
    }

    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test func noneIsOmittedFromSynthesizedEncoding() throws {
        #expect(try json(Change()) == "{}")
        #expect(try json(Change(title: .null, count: .some(1))) == #"{"count":1,"title":null}"#)
    }

    @Test func literalsCreateValues() throws {
        let change = Change(
            title: "a",
            count: 1,
            tags: ["b", "c"],
            ratio: 0.5,
            isPublic: true,
            inner: [1, .null, .none]
        )
        #expect(
            try json(change)
                == #"{"count":1,"inner":[1,null,null],"isPublic":true,"ratio":0.5,"tags":["b","c"],"title":"a"}"#
        )
        #expect(try json(Change(title: nil)) == "{}")
    }

    @Test func optionalsBecomeNoneOrNull() {
        let nothing: Int? = nil
        #expect(GraphQLNullable(nothing) == .none)
        #expect(GraphQLNullable(orNull: nothing) == .null)
        #expect(GraphQLNullable(Optional(3)) == .some(3))
        #expect(GraphQLNullable(orNull: Optional(3)).value == 3)
    }
}
