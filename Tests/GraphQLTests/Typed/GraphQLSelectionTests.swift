import BeagleNetGraphQL
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct GraphQLSelectionTests {
    private struct Author: Decodable {
        let name: String
        let age: Int?
        let site: URL
    }

    private enum Kind: String, Decodable, CaseIterable {
        case short = "SHORT"
        case long = "LONG"
    }

    private struct Open: RawRepresentable, Decodable {
        let rawValue: String
    }

    private struct Post: Decodable {
        let id: UUID
        let title: String?
        let createdAt: Date
        let price: Decimal
        let image: Data?
        let kind: Kind
        let state: Open
        let authors: [Author]
        let main: Author?
        let matrix: [[Double]]
        let grid: [[Author?]]?
        let raw: JSONValue
        let labels: [String: String]
        let flags: Set<Int8>
        let isNew: Bool

        enum CodingKeys: String, CodingKey {
            case id, title
            case createdAt = "created_at"
            case price, image, kind, state, authors, main, matrix, grid, raw, labels, flags, isNew
        }
    }

    @Test func selectionHasTheFieldsThatATypeDecodes() throws {
        let author = "{ name age site }"
        #expect(
            try GraphQLSelection.of(Post.self).description
                == "{ id title created_at price image kind state authors \(author) main \(author) matrix grid \(author) raw labels flags isNew }"
        )
        #expect(try GraphQLSelection.of([Author]?.self).description == author)
        #expect(try GraphQLSelection.of(Int.self).description == "")
        #expect(try GraphQLSelection.of([[Date]].self).parts.isEmpty)
    }

    private struct ByHand: Decodable {
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            _ = try container.nestedContainer(keyedBy: Key.self, forKey: Key("outer")).decode(
                Int.self,
                forKey: Key("inner")
            )
            var list = try container.nestedUnkeyedContainer(forKey: Key("list"))
            while !list.isAtEnd { _ = try list.decode(Author.self) }
            _ = try container.decodeIfPresent(String.self, forKey: Key("last"))
            _ = try Author(from: container.superDecoder(forKey: Key("author")))
        }

        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }

            init(_ name: String) {
                stringValue = name
            }

            init?(stringValue: String) { nil }
            init?(intValue: Int) { nil }
        }
    }

    @Test func selectionFollowsCustomDecoding() throws {
        #expect(
            try GraphQLSelection.of(ByHand.self).description
                == "{ outer { inner } list { name age site } last author { name age site } }"
        )
    }

    private final class Person: Decodable {
        let name: String
        let friends: [Person]?
    }

    private struct Lossy: Decodable {
        let friend: Person?

        enum CodingKeys: CodingKey {
            case friend
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            do {
                friend = try container.decode(Person.self, forKey: .friend)
            } catch {
                friend = nil
            }
        }
    }

    @Test func recursiveTypeThrows() {
        let error = #expect(throws: NetworkError.self) { try GraphQLSelection.of(Person.self) }
        #expect(
            error?.message
                == "cannot derive a selection for Person: friends is a Person inside a Person, and so on without end"
        )
        #expect(error?.kind == .badRequest && error?.phase == .build)
        #expect(throws: NetworkError.self) { try GraphQLSelection.of(Lossy.self) }
    }

    private enum Closed: String, Decodable {
        case one
    }

    private enum Sampled: String, Decodable, GraphQLSelection.Sample {
        case one
        static var graphQLSample: Self { .one }
    }

    private struct Checked: Decodable, GraphQLSelection.Sample {
        let code: String
        static var graphQLSample: Self { Checked(code: "DE") }
        static var graphQLSelection: GraphQLSelection { GraphQLSelection { "code" } }

        init(code: String) {
            self.code = code
        }

        init(from decoder: any Decoder) throws {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "never"))
        }
    }

    private struct Holder<Value: Decodable>: Decodable {
        let a: Inner
        struct Inner: Decodable {
            let value: Value
        }
    }

    @Test func samplesReplaceRejectedValues() throws {
        let error = #expect(throws: NetworkError.self) { try GraphQLSelection.of(Holder<Closed>.self) }
        #expect(error?.message.hasPrefix("cannot derive a selection for ") == true)
        #expect(error?.message.hasSuffix(": a.value rejects a sample value") == true)
        #expect(error?.advice?.contains("GraphQLSelection.Sample") == true)
        #expect(error?.underlying is DecodingError)
        #expect(try GraphQLSelection.of(Holder<Sampled>.self).description == "{ a { value } }")
        #expect(try GraphQLSelection.of(Holder<Checked?>.self).description == "{ a { value { code } } }")
    }

    private enum Union: Decodable {
        case post(Author), video(Int)
    }

    private struct OddKey: Decodable {
        let value: Int

        enum CodingKeys: String, CodingKey {
            case value = "a } evil { b"
        }
    }

    @Test func underivableSelectionThrows() {
        #expect(throws: NetworkError.self) { try GraphQLSelection.of(Union.self) }
        let odd = #expect(throws: NetworkError.self) { try GraphQLSelection.of(Holder<OddKey>.self) }
        #expect(odd?.message.hasSuffix("a.value.a } evil { b is not a valid field name") == true)
        let empty = #expect(throws: NetworkError.self) { try GraphQLSelection.of(Holder<ObjectWithoutFields>.self) }
        #expect(empty?.message.hasSuffix("a.value is an object, but its type reads no fields") == true)
    }

    private struct ObjectWithoutFields: Decodable {
        init(from decoder: any Decoder) throws {
            _ = try decoder.container(keyedBy: OddKey.CodingKeys.self)
        }
    }

    private struct ConfiguredSelection: Decodable {
        init(from decoder: any Decoder) throws {
            let key = try #require(CodingUserInfoKey(rawValue: "field"))
            let name = try #require(decoder.userInfo[key] as? String)
            let container = try decoder.container(keyedBy: ByHand.Key.self)
            _ = try container.decode(Int.self, forKey: ByHand.Key(name))
        }
    }

    @Test func userInfoReachesTheType() throws {
        let key = try #require(CodingUserInfoKey(rawValue: "field"))
        #expect(try GraphQLSelection.of(ConfiguredSelection.self, userInfo: [key: "told"]).description == "{ told }")
    }
}
