import BeagleNetHTTP
import Testing

@testable import BeagleNet

struct ScreenExpressionTests {
    /// The URL as JSON text, its value, or `nil` if it isn't known.
    private static let expressions: [(String, String?)] = [
        // Bindings
        ("@{c.url}", "/a"), ("/x/@{c.id}", "/x/7"), ("@{c.list[1]}", "/second"), ("@{c.list[9]}", nil),
        ("@{c.deep.list[0].u}?v=@{c.half}", "/d?v=1.5"), ("@{c.yes}/x", "true/x"), ("/@{c.none}/x", "//x"),
        ("@{c.missing}", nil), ("@{c}", nil), ("@{other.url}", nil), ("@{global.url}", nil), ("@{onSuccess.data}", nil),
        ("@{c.live}", nil), ("@{c.big}", "9007199254740991"),
        ("/@{c.huge}", "/9007199254740993"), (#"@{c.\u0065scaped}"#, "/é"),
        // Literals
        ("@{'/a b'}", "/a b"), ("/@{1}@{-2}", "/1-2"), ("@{null}", nil), (#"@{'it\\'s'}"#, "it's"),
        ("/@{ c.id }", "/7"),
        // Operations
        ("@{concat('/p/', c.id, '/', c.name)}", "/p/7/n"), ("@{condition(c.yes, '/1', z.a)}", "/1"),
        ("@{condition(not(c.yes), '/1', '/2')}", "/2"), ("@{uppercase('a')}@{lowercase('B')}", "Ab"),
        ("/@{sum(c.id, 1)}/@{subtract(5, 2)}/@{multiply(2, 3)}/@{divide(9, 2)}", "/8/3/6/4.5"),
        ("@{condition(gt(c.id, 6), '/a', '/b')}", "/a"), ("@{condition(eq(c.name, 'n'), '/a', '/b')}", "/a"),
        ("@{condition(or(isNull(c.none), false), '/a', '/b')}", "/a"), ("/@{length('abc')}", "/3"),
        ("@{condition(and(isEmpty(''), lte(1, 1)), '/a', '/b')}", "/a"), ("/@{capitalize('abc')}", "/Abc"),
        // Operations on arrays and objects
        ("@{condition(isEmpty(c.empty), '/a', '/b')}", "/a"), ("@{condition(isEmpty(c.list), '/a', '/b')}", "/b"),
        ("@{condition(isEmpty(c.deep), '/a', '/b')}", "/b"), ("@{condition(isEmpty(c.id), '/a', '/b')}", nil),
        ("/@{length(c.list)}/@{length(c.deep)}/@{length(c.empty)}", "/2/1/0"),
        ("@{condition(contains(c.list, '/first'), '/a', '/b')}", "/a"),
        ("@{condition(contains(c.numbers, 4), '/a', '/b')}", "/b"),
        ("@{condition(contains(c.numbers, 2), '/a', '/b')}", "/a"),
        ("@{condition(contains('abc', 'bc'), '/a', '/b')}", "/a"), ("@{contains(c.id, 7)}", nil),
        ("/@{length(insert(c.list, 'x'))}", "/3"), ("/@{length(insert(c.list, 'x', 2))}", "/3"),
        ("/@{length(insert(c.list, 'x', 3))}", nil), ("/@{length(union(c.list, c.numbers))}", "/6"),
        ("/@{length(union(c.list, 1))}", nil), ("/@{length(remove(c.numbers, 2))}", "/2"),
        ("/@{length(removeIndex(c.numbers, 0))}", "/3"), ("/@{length(removeIndex(c.numbers))}", "/3"),
        ("/@{length(removeIndex(c.empty))}", nil), ("/@{length(removeIndex(c.numbers, 4))}", nil),
        ("@{condition(eq(c.list, c.list), '/a', '/b')}", "/a"), ("@{condition(eq(c.list, c.empty), '/a', '/b')}", "/b"),
        ("@{condition(eq(c.deep, c.id), '/a', '/b')}", "/b"), ("@{condition(eq('1', 1), '/a', '/b')}", "/a"),
        ("@{condition(gt('10', '9'), '/a', '/b')}", "/a"), ("@{gt('a', 1)}", nil),
        // Parts of texts, and conversions
        ("/@{substr('The book is on', 4, 4)}", "/book"), ("/@{substr('abc', 1)}", "/bc"),
        ("/@{substr('abc', 3)}", nil), ("/@{substr('abc', 1, 3)}", nil), ("/@{substr('abc', 1.5)}", nil),
        ("/@{int('12')}/@{int(2.7)}/@{int(-2.7)}/@{double('1.5')}", "/12/2/-2/1.5"), ("/@{int('2.7')}", nil),
        ("/@{string(7)}@{string(true)}", "/7true"), ("@{condition(eq(string(7), '7'), '/a', '/b')}", "/a"),
        ("@{divide(1, 0)}", nil), ("@{unknown(1)}", nil), ("@{concat(c.id, z.a)}", nil), ("@{concat()}", nil),
        // Text that only looks like an expression
        ("/a@{", "/a@{"), ("/a@{c.url", "/a@{c.url"), ("/a@{}", "/a@{}"), ("/@{c.}", "/@{c.}"), ("a@b.c", "a@b.c"),
        ("/@{c[x]}", "/@{c[x]}"), ("/@{'a}", "/@{'a}"), ("/@{concat(1}", "/@{concat(1}"), ("/@ {c.id}", "/@ {c.id}"),
        (#"/\\@{c.id}"#, "/@{c.id}"), (#"/\\\\@{c.id}"#, #"/\7"#), (#"/a\\b"#, #"/a\b"#), (#"/a\\\\b"#, #"/a\b"#),
    ]

    private static let context = """
        {"id": "c", "value": {"url": "/a", "id": 7, "name": "n", "half": 1.5, "yes": true, "none": null,
        "list": ["/first", "/second"], "deep": {"list": [{"u": "/d"}]}, "live": "/@{x.y}", "big": 9007199254740991,
        "huge": 9007199254740993, "empty": [], "numbers": [1, 2, 2.0, 3],
        "escaped": "/\\u00e9"}}
        """

    @Test(arguments: expressions)
    func expressionHasItsValue(_ url: String, _ value: String?) throws {
        let json = ScreenFixture.container(ScreenFixture.image(url), #""context": \#(Self.context)"#)
        let reference = try #require(try ScreenFixture.parse(json).plan.references.first)
        #expect(reference.resolvedURL == value)
        #expect(reference.obstacle == (value == nil ? .unresolvedExpression : nil))
    }

    @Test func deepOperationIsText() throws {
        let url = "@{" + String(repeating: "not(", count: 5_000) + "true" + String(repeating: ")", count: 5_000) + "}"
        #expect(try ScreenFixture.parse(ScreenFixture.image(url)).plan.references.first?.resolvedURL == url)
    }

    @Test func operationsHaveTheMeaningOfTheFramework() throws {
        let url = "/@{substr('abcd', 1, 2)}/@{length(remove(l, 1))}"
        let image = ScreenFixture.nimbus("layout:remoteImage", #""url": "\#(url)""#)
        let nimbus = #"{"_:component": "a:b", "state": {"id": "l", "value": [1, 1]}, "children": [\#(image)]}"#
        #expect(try ScreenFixture.lines(nimbus) == ["image render /b/1: ok"])
        let context = #""context": {"id": "l", "value": [1, 1]}"#
        let beagle = ScreenFixture.container(ScreenFixture.image(url), context)
        #expect(try ScreenFixture.lines(beagle) == ["image render /bc/0: ok"])
    }

    // MARK: - Scopes

    @Test func contextMayFollowItsUse() throws {
        let json = ScreenFixture.container(ScreenFixture.image("@{c}"), #""context": {"value": "/v", "id": "c"}"#)
        #expect(try ScreenFixture.lines(json) == ["image render /v: ok"])
    }

    @Test func innerContextHidesTheOuterOne() throws {
        let inner = ScreenFixture.container(ScreenFixture.image("@{c}"), #""context": {"id": "c", "value": "/inner"}"#)
        let json = ScreenFixture.container(
            "\(ScreenFixture.image("@{c}")), \(inner), \(ScreenFixture.image("@{c}"))",
            #""context": {"id": "c", "value": "/outer"}"#
        )
        #expect(
            try ScreenFixture.lines(json)
                == ["image render /outer: ok", "image render /inner: ok", "image render /outer: ok"]
        )
    }

    @Test func contextEndsWithItsComponent() throws {
        let first = ScreenFixture.container("", #""context": {"id": "c", "value": "/v"}"#)
        let json = ScreenFixture.container("\(first), \(ScreenFixture.image("@{c}"))")
        #expect(try ScreenFixture.lines(json) == ["image render ? @{c}: unresolved expression"])
    }

    @Test func nimbusComponentMayHaveSeveralStates() throws {
        let json = """
            {"_:component": "layout:row", "states": [{"id": "a", "value": "/1"}, {"id": "b", "value": "/2"}],
            "children": [\(ScreenFixture.nimbus("layout:remoteImage", #""url": "@{a}@{b}""#))]}
            """
        #expect(try ScreenFixture.lines(json) == ["image render /1/2: ok"])
    }

    /// A route that is prefetched for a value that an action changes would be the wrong one.
    @Test func changedContextIsNotResolvedForActions() throws {
        let button = ScreenFixture.button("beagle:pushView", #""route": {"url": "@{c.r}", "shouldPrefetch": true}"#)
        let change = ScreenFixture.button("beagle:setContext", #""contextId": "c", "path": "r", "value": "/2""#)
        let context = #""context": {"id": "c", "value": {"r": "/1"}}"#
        #expect(try ScreenFixture.lines(ScreenFixture.container(button, context)) == ["route action /1: ok"])
        let image = ScreenFixture.image("@{c.r}")
        #expect(
            try ScreenFixture.lines(ScreenFixture.container("\(button), \(change), \(image)", context))
                == ["route action ? @{c.r}: unresolved expression", "image render /1: ok"]
        )
    }

    @Test func wholeImagePathMayBeInAContext() throws {
        let image = ScreenFixture.component("beagle:image", #""path": "@{c}""#)
        func lines(_ value: String) throws -> [String] {
            try ScreenFixture.lines(ScreenFixture.container(image, #""context": {"id": "c", "value": \#(value)}"#))
        }
        #expect(
            try lines(#"{"_beagleImagePath_": "remote", "url": "/a"}"#).contains("image render /a: ok")
        )
        #expect(
            try lines(#"{"_beagleImagePath_": "local", "mobileId": "a"}"#)
                == ["image render ? @{c}: unresolved expression"]
        )
    }

    // MARK: - URLs in contexts

    @Test func urlThatAnExpressionUsesIsListedOnce() throws {
        let images = ["@{c.image}", "@{c.base}/b", "@{c.path}"].map(ScreenFixture.image).joined(separator: ", ")
        let context = #"""
            "context": {"id": "c", "value": {"image": "https://a/1", "base": "https://b", "path": "/c",
            "other": "https://a/1"}}
            """#
        #expect(
            try ScreenFixture.lines(ScreenFixture.container(images, context)).sorted() == [
                "image render /c: ok", "image render https://a/1: ok", "image render https://b/b: ok",
                "unknown data https://a/1: undeclared",
            ]
        )
        let text = ScreenFixture.component("beagle:text", #""text": "@{c.image}""#)
        #expect(try ScreenFixture.lines(ScreenFixture.container(text, context)).count == 3)
        let unresolved = ScreenFixture.image("@{c.image}/@{onSuccess}")
        #expect(try ScreenFixture.lines(ScreenFixture.container(unresolved, context)).count == 4)
    }

    @Test func urlsOfListItemsAreListedOnce() throws {
        let json = ScreenFixture.component(
            "beagle:listView",
            #"""
            "dataSource": [{"url": "https://a/1"}, {"url": "https://a/2"}],
            "templates": [{"view": \#(ScreenFixture.image("@{item.url}"))}]
            """#
        )
        #expect(try ScreenFixture.lines(json) == ["image render https://a/1: ok", "image render https://a/2: ok"])
    }

    @Test func expressionMayLeadToAnotherScheme() throws {
        let json = ScreenFixture.container(ScreenFixture.image("@{c}"), #""context": {"id": "c", "value": "empty://"}"#)
        #expect(try ScreenFixture.lines(json) == ["image render empty://: other scheme"])
    }

    @Test func methodMayBeAnExpression() throws {
        let context = #""context": {"id": "c", "value": "post"}"#
        let button = ScreenFixture.button("beagle:sendRequest", #""url": "/q", "method": "@{c}""#)
        #expect(
            try ScreenFixture.lines(ScreenFixture.container(button, context))
                == ["request action POST /q: unsafe method"]
        )
        #expect(try ScreenFixture.lines(button) == ["request action @{c} /q: unresolved expression"])
    }
}
