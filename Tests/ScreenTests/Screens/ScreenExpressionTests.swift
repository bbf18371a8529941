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
        ("@{divide(1, 0)}", nil), ("@{unknown(1)}", nil), ("@{concat(c.id, z.a)}", nil), ("@{concat()}", nil),
        // Text that only looks like an expression
        ("/a@{", "/a@{"), ("/a@{c.url", "/a@{c.url"), ("/a@{}", "/a@{}"), ("/@{c.}", "/@{c.}"), ("a@b.c", "a@b.c"),
        ("/@{c[x]}", "/@{c[x]}"), ("/@{'a}", "/@{'a}"), ("/@{concat(1}", "/@{concat(1}"), ("/@ {c.id}", "/@ {c.id}"),
        (#"/\\@{c.id}"#, "/@{c.id}"), (#"/\\\\@{c.id}"#, #"/\7"#), (#"/a\\b"#, #"/a\b"#), (#"/a\\\\b"#, #"/a\b"#),
    ]

    private static let context = """
        {"id": "c", "value": {"url": "/a", "id": 7, "name": "n", "half": 1.5, "yes": true, "none": null,
        "list": ["/first", "/second"], "deep": {"list": [{"u": "/d"}]}, "live": "/@{x.y}", "big": 9007199254740991,
        "huge": 9007199254740993,
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
