import BeagleNetHTTP
import Testing

@testable import BeagleNet

struct ScreenListTests {
    typealias Make = ScreenFixture

    private func list(_ source: String, _ templates: String, _ members: String = "") -> String {
        Make.component(
            "beagle:listView",
            #""templates": [\#(templates)], "dataSource": \#(source)\#(members.isEmpty ? "" : ", \(members)")"#
        )
    }

    private func template(_ view: String, case condition: String? = nil) -> String {
        #"{\#(condition.map { #""case": "\#($0)", "# } ?? "")"view": \#(view)}"#
    }

    @Test func templateIsShownForEachItemInOrder() throws {
        let row = Make.container("\(Make.image("@{item.a}")), \(Make.image("@{item.b}"))")
        let json = list(#"[{"a": "/a1", "b": "/b1"}, {"a": "/a2", "b": "/b2"}]"#, template(row))
        #expect(
            try Make.lines(json) == ["/a1", "/b1", "/a2", "/b2"].map { "image render \($0): ok" }
        )
    }

    @Test func itemsMayBeInAContext() throws {
        let json = Make.container(
            list(
                #""@{shop.items}""#,
                template(Make.image("/p/@{p.id}?i=@{n}")),
                #""iteratorName": "p", "indexName": "n""#
            ),
            #""context": {"id": "shop", "value": {"items": [{"id": 3}, {"id": 4}]}}"#
        )
        #expect(try Make.lines(json) == ["image render /p/3?i=0: ok", "image render /p/4?i=1: ok"])
    }

    @Test func itemsMayBeTheResultOfAnOperation() throws {
        let image = Make.component("beagle:image", #""path": "@{item.path}""#)
        let json = Make.container(
            list(
                #""@{removeIndex(insert(shop, shop[1]), 1)}""#,
                template(Make.container("\(image), \(Make.image("@{item.id}/@{index}"))"))
            ),
            #"""
            "context": {"id": "shop", "value": [{"id": "/a", "path": {"_beagleImagePath_": "remote", "url": "/p"}},
            {"id": "/b", "path": {"_beagleImagePath_": "local", "mobileId": "m"}}]}
            """#
        )
        #expect(
            try Make.lines(json).filter { !$0.contains(" data ") }
                == ["image render /p: ok", "image render /a/0: ok", "image render /b/1: ok"]
        )
    }

    @Test func urlOfAnItemThatAnOperationReturnsIsListedOnce() throws {
        let row = Make.container("\(Make.image("@{item.u}")), \(Make.image("/i/@{index}"))")
        let json = Make.container(
            list(#""@{union(c.a, c.b)}""#, template(row)),
            #"""
            "context": {"id": "c", "value": {"a": [{"u": "https://a/1"}],
            "b": [{"u": "https://a/2", "v": "https://a/3"}], "other": "https://a/1"}}
            """#
        )
        #expect(
            try Make.lines(json).sorted() == [
                "image render /i/0: ok", "image render /i/1: ok", "image render https://a/1: ok",
                "image render https://a/2: ok", "unknown data https://a/1: undeclared",
                "unknown data https://a/3: undeclared",
            ]
        )
    }

    @Test func templateWithoutKnownItemsIsListedOnce() throws {
        let row = Make.container("\(Make.image("@{item.a}")), \(Make.image("/fixed"))")
        #expect(
            try Make.lines(list(#""@{unknown}""#, template(row)))
                == ["image template ? @{item.a}: template", "image template /fixed: ok"]
        )
        #expect(try Make.lines(list("[]", template(row))).count == 2)
    }

    @Test func referenceThatAllItemsShareIsListedOnce() throws {
        let row = Make.container("\(Make.image("/fixed")), \(Make.image("@{item}")), \(Make.image("@{other}"))")
        #expect(
            try Make.lines(list(#"["/1", "/2"]"#, template(row))) == [
                "image render /fixed: ok", "image render /1: ok", "image template ? @{other}: unresolved expression",
                "image render /2: ok",
            ]
        )
    }

    @Test func caseSelectsTheTemplate() throws {
        let templates = [
            template(Make.image("/big@{item.u}"), case: "@{eq(item.t, 'big')}"),
            template(Make.image("/small@{item.u}"), case: "@{eq(item.t, 'small')}"),
            template(Make.image("/other@{item.u}")),
        ]
        let rows = #"[{"t": "small", "u": "/1"}, {"t": "big", "u": "/2"}, {"u": "/3"}]"#
        #expect(
            try Make.lines(list(rows, templates.joined(separator: ", ")))
                == ["/small/1", "/big/2", "/other/3"].map { "image render \($0): ok" }
        )
    }

    @Test func itemWithoutURLHasNoReference() throws {
        let json = list(#"[{"u": "/1"}, {}, {"u": null}, {"u": ""}]"#, template(Make.image("@{item.u}")))
        #expect(try Make.lines(json) == ["image render /1: ok"])
    }

    @Test func listsMayBeNested() throws {
        let inner = list(#""@{item.photos}""#, template(Make.image("@{photo}")), #""iteratorName": "photo""#)
        let json = list(#"[{"photos": ["/1", "/2"]}, {"photos": ["/3"]}]"#, template(inner))
        #expect(try Make.lines(json) == ["/1", "/2", "/3"].map { "image render \($0): ok" })
    }

    @Test func deeplyNestedListsEnd() throws {
        var json = Make.image("@{item}")
        for _ in 0..<20 { json = list("[1, 2, 3, 4, 5, 6, 7, 8]", template(json)) }
        let screen = try Make.parse(json)
        #expect(screen.plan.references.count == 1)
        #expect(screen.plan.references.first?.obstacle == .template)
    }

    @Test func actionsInTemplatesAreResolvedForEachItem() throws {
        let button = Make.button("beagle:pushView", #""route": {"url": "/d/@{item}", "shouldPrefetch": true}"#)
        #expect(
            try Make.lines(list("[1, 2]", template(button))) == ["route action /d/1: ok", "route action /d/2: ok"]
        )
    }

    @Test func olderTemplateIsOneComponent() throws {
        let json = Make.component(
            "beagle:listView",
            #""dataSource": ["/1", "/2"], "template": \#(Make.image("@{item}"))"#
        )
        #expect(try Make.lines(json) == ["image render /1: ok", "image render /2: ok"])
    }

    @Test func millionItemsAreCapped() throws {
        let rows = Array(repeating: #""/i""#, count: 1_000_000).joined(separator: ",")
        let screen = try Make.parse(list("[\(rows)]", template(Make.image("@{item}"))))
        #expect(screen.plan.references.count == 10_000)
        #expect(screen.plan.isTruncated)
    }

    @Test func urlsInDataAreNoRequests() throws {
        let json = Make.container(
            "",
            #""context": {"id": "c", "value": [{"u": "https://a/b", "view": \#(Make.image("/v"))}]}"#
        )
        #expect(try Make.lines(json) == ["unknown data https://a/b: undeclared", "image data /v: data"])
    }
}
