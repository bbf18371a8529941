import BeagleNetHTTP
import Testing

@testable import BeagleNet

struct ScreenVocabularyTests {
    struct Entry: CustomTestStringConvertible {
        let testDescription: String
        let json: String
        let lines: [String]

        init(_ testDescription: String, _ json: String, _ lines: String...) {
            self.testDescription = testDescription
            self.json = json
            self.lines = lines
        }
    }

    typealias Make = ScreenFixture

    // MARK: - Beagle

    private static let beagleEntries = [
        Entry("remote image", Make.image("/a.png"), "image render /a.png: ok"),
        Entry(
            "local image",
            Make.component(
                "beagle:image",
                #""path": {"_beagleImagePath_": "local", "mobileId": "a", "url": "https://web/a"}"#
            )
        ),
        Entry(
            "image that is one expression",
            Make.component("beagle:image", #""path": "@{user.photo}""#),
            "image render ? @{user.photo}: unresolved expression"
        ),
        Entry("name of a local image", Make.component("beagle:image", #""path": "logo""#)),
        Entry(
            "local placeholder",
            Make.component(
                "beagle:image",
                #""path": {"_beagleImagePath_": "remote", "url": "/a", "placeholder": {"mobileId": "p"}}"#
            ),
            "image render /a: ok"
        ),
        Entry(
            "remote placeholder",
            Make.component(
                "beagle:image",
                """
                "path": {"_beagleImagePath_": "remote", "url": "/a",
                "placeholder": {"_beagleImagePath_": "remote", "url": "/p"}}
                """
            ),
            "image render /a: ok",
            "image render /p: ok"
        ),
        Entry("image without the marker of its path", Make.component("beagle:image", #""path": {"url": "/a"}"#)),
        Entry(
            "navigation bar items",
            Make.component(
                "beagle:screenComponent",
                """
                "navigationBar": {"navigationBarItems": [
                    {"text": "a", "image": "local", "action": {"_beagleAction_": "beagle:pushView", "route": {"url": "/1"}}},
                    {"text": "b", "image": {"_beagleImagePath_": "local", "mobileId": "m"},
                     "onPress": [{"_beagleAction_": "beagle:pushStack", "route": {"url": "/2", "shouldPrefetch": true}}]}]}
                """
            ),
            "route action /1: not marked",
            "route action /2: ok"
        ),
        Entry("lazy component", Make.component("beagle:lazyComponent", #""path": "/l""#), "lazy render /l: ok"),
        Entry(
            "expression in the path of a lazy component, which is sent as it is",
            Make.component("beagle:lazyComponent", #""context": {"id": "a", "value": "b"}, "path": "/l/@{a}""#),
            "lazy render ? /l/@{a}: unresolved expression"
        ),
        Entry(
            "initial state of a lazy component",
            Make.component("beagle:lazyComponent", #""path": "/l", "initialState": \#(Make.image("/i"))"#),
            "lazy render /l: ok",
            "image render /i: ok"
        ),
        Entry(
            "web view",
            Make.component("beagle:webView", #""url": "https://a/b""#),
            "web page render https://a/b: opened elsewhere"
        ),
        Entry(
            "children of each container",
            [
                Make.container(Make.image("/1")), Make.component("beagle:touchable", #""child": \#(Make.image("/2"))"#),
                Make.component("beagle:tabView", #""children": [{"title": "t", "child": \#(Make.image("/3"))}]"#),
                Make.component("beagle:pullToRefresh", #""onPull": [], "child": \#(Make.image("/4"))"#),
            ].asChildren,
            "image render /1: ok",
            "image render /2: ok",
            "image render /3: ok",
            "image render /4: ok"
        ),
    ]

    private static let beagleActions = [
        Entry("pushView", Make.button("beagle:pushView", #""route": {"url": "/r"}"#), "route action /r: not marked"),
        Entry(
            "resetStack with prefetch",
            Make.button("beagle:resetStack", #""route": {"shouldPrefetch": true, "url": "/r"}"#),
            "route action /r: ok"
        ),
        Entry(
            "resetApplication with another name for prefetch",
            Make.button("beagle:resetApplication", #""route": {"url": "/r", "shouldPrefetch": "true"}"#),
            "route action /r: not marked"
        ),
        Entry(
            "route with a method",
            Make.button(
                "beagle:pushStack",
                #""route": {"httpAdditionalData": {"method": "post"}, "url": "/r", "shouldPrefetch": true}"#
            ),
            "route action POST /r: unsafe method"
        ),
        Entry(
            "route with a body",
            Make.button(
                "beagle:pushView",
                #""route": {"url": "/r", "shouldPrefetch": true, "httpAdditionalData": {"body": {"url": "https://x"}}}"#
            ),
            "route action /r: body"
        ),
        Entry(
            "route with an expression in a header",
            Make.button(
                "beagle:pushView",
                #""route": {"url": "/r", "shouldPrefetch": true, "httpAdditionalData": {"headers": {"a": "@{b}"}}}"#
            ),
            "route action /r: unresolved expression"
        ),
        Entry(
            "route with a fallback",
            Make.button("beagle:pushView", #""route": {"url": "/r", "fallback": {"child": \#(Make.image("/f"))}}"#),
            "route action /r: not marked",
            "image fallback /f: ok"
        ),
        Entry(
            "route with its own screen",
            Make.button("beagle:pushView", #""route": {"url": "/r", "screen": {"child": \#(Make.image("/s"))}}"#),
            "image action /s: ok"
        ),
        Entry(
            "openNativeRoute",
            Make.button("beagle:openNativeRoute", #""route": "https://native", "data": {"a": "b"}"#)
        ),
        Entry("popToView", Make.button("beagle:popToView", #""route": "https://a/b""#)),
        Entry(
            "openExternalURL",
            Make.button("beagle:openExternalURL", #""url": "https://a""#),
            "web page action https://a: opened elsewhere"
        ),
        Entry(
            "telephone number",
            Make.button("beagle:openExternalURL", #""url": "tel:123""#),
            "web page action tel:123: other scheme"
        ),
        Entry(
            "sendRequest",
            Make.button("beagle:sendRequest", #""url": "/q", "method": "delete""#),
            "request action DELETE /q: unsafe method"
        ),
        Entry(
            "sendRequest with GET",
            Make.button("beagle:sendRequest", #""url": "/q", "data": null"#),
            "request action /q: not marked"
        ),
        Entry(
            "actions after a request",
            Make.button(
                "beagle:sendRequest",
                #""onSuccess": [{"_beagleAction_": "beagle:pushView", "route": {"url": "/r"}}], "url": "/q""#
            ),
            "route action /r: not marked",
            "request action /q: not marked"
        ),
        Entry(
            "actions of a condition and of an alert",
            Make.button(
                "beagle:condition",
                """
                "condition": "@{a}", "onTrue": [{"_beagleAction_": "beagle:alert", "message": "m",
                "onPressOk": {"_beagleAction_": "beagle:pushView", "route": {"url": "/r"}}}]
                """
            ),
            "route action /r: not marked"
        ),
        Entry(
            "addChildren",
            Make.button("beagle:addChildren", #""componentId": "c", "value": [\#(Make.image("/a"))]"#),
            "image action /a: ok"
        ),
        Entry(
            "onInit, and what follows it",
            Make.component(
                "beagle:container",
                """
                "onInit": [{"_beagleAction_": "beagle:sendRequest", "url": "/q", "onSuccess":
                [{"_beagleAction_": "beagle:addChildren", "value": [\(Make.image("/a"))]}]}]
                """
            ),
            "request init /q: not marked",
            "image init /a: ok"
        ),
        Entry(
            "onScrollEnd",
            Make.component(
                "beagle:listView",
                #""onScrollEnd": [{"_beagleAction_": "beagle:sendRequest", "url": "/more"}]"#
            ),
            "request visible /more: not marked"
        ),
        Entry(
            "SimpleForm",
            Make.component(
                "beagle:simpleForm",
                """
                "onSubmit": [{"_beagleAction_": "beagle:sendRequest", "url": "/s", "method": "POST",
                "onError": [{"_beagleAction_": "beagle:sendRequest", "url": "/e"}]}]
                """
            ),
            "form action POST /s: unsafe method",
            "request action /e: not marked"
        ),
        Entry(
            "form of Beagle 1.x",
            Make.component(
                "beagle:form",
                """
                "child": \(Make.component("beagle:formInput", #""name": "a", "child": {}"#)),
                "onSubmit": [{"_beagleAction_": "beagle:formRemoteAction", "path": "/s", "method": "GET"}]
                """
            ),
            "form action /s: needs input"
        ),
    ]

    private static let olderEntries = [
        Entry(
            "networkimage and navigate",
            """
            {"_beagleType_": "beagle:component:touchable",
            "action": {"_beagleType_": "beagle:action:navigate", "path": "/old", "shouldPrefetch": true},
            "child": {"_beagleType_": "beagle:component:networkimage", "path": "/i.png"}}
            """,
            "route action /old: ok",
            "image render /i.png: ok"
        ),
        Entry(
            "deep link",
            #"{"_beagleType_": "beagle:action:navigate", "path": "/native", "type": "OPEN_DEEP_LINK"}"#
        ),
        Entry("type of neither", #"{"_beagleType_": "beagle:widget:networkimage", "path": "/a"}"#),
    ]

    @Test(arguments: beagleEntries + beagleActions + olderEntries)
    func entryOfBeagleIsFound(_ entry: Entry) throws {
        #expect(try ScreenFixture.lines(entry.json) == entry.lines)
        #expect(try ScreenFixture.lines(entry.json, .beagle1).count == entry.lines.count)
    }

    // MARK: - Nimbus

    private static let nimbusEntries = [
        Entry(
            "remote image",
            Make.nimbus("layout:remoteImage", #""url": "/a.png", "scale": "center""#),
            "image render /a.png: ok"
        ),
        Entry("local image", Make.nimbus("layout:localImage", #""id": "a""#)),
        Entry("push", nimbusAction("push", #""url": "/r", "prefetch": true"#), "route action /r: ok"),
        Entry(
            "present with everything",
            nimbusAction(
                "present",
                """
                "url": "/r", "prefetch": true, "method": "Post", "headers": {"a": "b"}, "body": {"c": "d"},
                "fallback": \(Make.nimbus("layout:remoteImage", #""url": "/f""#)), "params": {"e": "https://x/y"}
                """
            ),
            "route action POST /r: unsafe method",
            "image fallback /f: ok",
            "unknown data https://x/y: undeclared"
        ),
        Entry("popTo", nimbusAction("popTo", #""url": "https://a/b""#)),
        Entry(
            "openUrl",
            nimbusAction("openUrl", #""url": "https://a/b""#),
            "web page action https://a/b: opened elsewhere"
        ),
        Entry(
            "sendRequest",
            nimbusAction("sendRequest", #""url": "/q", "method": "Put", "data": {}"#),
            "request action PUT /q: unsafe method"
        ),
        Entry("name in another case", nimbusAction("Push", #""url": "/r""#)),
        Entry(
            "forEach over a state",
            """
            {"_:component": "layout:column", "state": {"id": "shop", "value": {"items": [{"u": "/1"}, {"u": "/2"}]}},
            "children": [{"_:component": "forEach",
            "children": [\(Make.nimbus("layout:remoteImage", #""url": "@{item.u}""#))],
            "properties": {"items": "@{shop.items}"}}]}
            """,
            "image render /1: ok",
            "image render /2: ok"
        ),
    ]

    private static func nimbusAction(_ type: String, _ properties: String) -> String {
        let action = #"{"_:action": "\#(type)", "properties": {\#(properties)}}"#
        return ScreenFixture.nimbus("material:button", #""onPress": [\#(action)]"#)
    }

    @Test(arguments: nimbusEntries)
    func entryOfNimbusIsFound(_ entry: Entry) throws {
        #expect(try ScreenFixture.lines(entry.json, .nimbus) == entry.lines)
        #expect(try ScreenFixture.lines(entry.json) == entry.lines)
    }

    // MARK: - Names

    @Test(arguments: ["beagle:image", "Beagle:IMAGE", "BEAGLE:Image"])
    func caseOfBeaglesNamesIsIgnored(_ type: String) throws {
        let json = Make.component(type, #""path": {"_beagleImagePath_": "REMOTE", "url": "/a"}"#)
        #expect(try ScreenFixture.lines(json) == ["image render /a: ok"])
    }

    @Test func memberNamesMustMatchExactly() throws {
        #expect(try ScreenFixture.lines(Make.component("beagle:lazyComponent", #""Path": "/l""#)).isEmpty)
        #expect(try ScreenFixture.lines(#"{"beagleComponent": "beagle:lazyComponent", "path": "/l"}"#).isEmpty)
    }

    @Test func vocabularyReadsOnlyItsFramework() throws {
        let nimbus = Make.nimbus("layout:remoteImage", #""url": "/a""#)
        #expect(try ScreenFixture.lines(nimbus, .beagle2).isEmpty)
        #expect(try ScreenFixture.lines(Make.image("/a"), .nimbus).isEmpty)
        let form = Make.component(
            "beagle:form",
            #""onSubmit": {"_beagleAction_": "beagle:formRemoteAction", "path": "/s"}"#
        )
        #expect(try ScreenFixture.lines(form, .beagle2).isEmpty)
        #expect(try ScreenFixture.lines(form, .beagle1) == ["form action /s: needs input"])
    }

    @Test func markerAndNamesMayHaveEscapes() throws {
        let json = #"{"\u005fbeagleComponent_": "beagle:lazy\u0043omponent", "p\u0061th": "\/l\/1"}"#
        #expect(try ScreenFixture.lines(json) == ["lazy render /l/1: ok"])
    }

    @Test func markerMayBeTheLastMember() throws {
        let json = """
            {"children": [{"path": {"url": "/a", "_beagleImagePath_": "remote"}, "_beagleComponent_": "beagle:image"},
            {"onPress": [{"route": {"url": "/r", "shouldPrefetch": true}, "_beagleAction_": "beagle:pushView"}],
            "style": {"_beagleComponent_": "x"}, "_beagleComponent_": "beagle:button"}],
            "_beagleComponent_": "beagle:container"}
            """
        let screen = try ScreenFixture.parse(json)
        #expect(screen.type == "beagle:container" && screen.isScreen)
        #expect(try ScreenFixture.lines(json) == ["image render /a: ok", "route action /r: ok"])
        #expect(screen.plan.references.map(\.pointer) == ["/children/0/path/url", "/children/1/onPress/0/route/url"])
    }

    // MARK: - Declarations

    private static let declarations: [(String, ScreenVocabulary.Role, String, [String])] = [
        ("custom:a.imageUrl", .image, #""imageUrl": "https://x/y""#, ["image render https://x/y: ok"]),
        ("custom:a.target", .route, #""target": "/t""#, ["route render /t: not marked"]),
        ("custom:a.part", .lazy, #""part": "/t""#, ["lazy render /t: ok"]),
        ("custom:a.feed", .request, #""feed": "/t""#, ["request render /t: not marked"]),
        (
            "custom:a.slides.pic", .image, #""slides": [{"pic": "/1"}, {"pic": "/2"}]"#,
            ["image render /1: ok", "image render /2: ok"]
        ),
        (
            "custom:a.pics", .image, #""pics": ["/1", 7, null, {"url": "/2"}, ["/3"]]"#,
            ["image render /1: ok", "image render /3: ok"]
        ),
        ("CUSTOM:A.data", .image, #""data": "/d""#, ["image render /d: ok"]),
        ("custom:b.imageUrl", .image, #""imageUrl": "https://x/y""#, ["unknown render https://x/y: undeclared"]),
        ("custom:a.imageUrl", .image, #""imageUrl": 7"#, []),
        ("custom:a.imageUrl", .image, #""imageUrl": "empty://""#, ["image render empty://: other scheme"]),
    ]

    @Test(arguments: declarations)
    func declaredMemberIsAReference(
        _ key: String,
        _ role: ScreenVocabulary.Role,
        _ members: String,
        _ lines: [String]
    ) throws {
        var vocabulary = ScreenVocabulary.standard
        try vocabulary.declare(key, as: role)
        #expect(try ScreenFixture.lines(Make.component("custom:a", members), vocabulary) == lines)
    }

    @Test func declaredMemberOfNimbusIsBelowItsProperties() throws {
        var vocabulary = ScreenVocabulary.nimbus
        try vocabulary.declare("store:card.photo", as: .image)
        #expect(
            try ScreenFixture.lines(Make.nimbus("store:card", #""photo": "/p""#), vocabulary) == ["image render /p: ok"]
        )
    }

    @Test func declaredTemplateIsShownForEachItem() throws {
        var vocabulary = ScreenVocabulary.standard
        try vocabulary.declare("custom:carousel.slides", as: .items)
        try vocabulary.declare("custom:carousel.view", as: .template)
        try vocabulary.declare("custom:slide.photo", as: .image)
        let json = Make.component(
            "custom:carousel",
            #""view": \#(Make.component("custom:slide", #""photo": "@{item}""#)), "slides": ["/1", "/2"]"#
        )
        #expect(try ScreenFixture.lines(json, vocabulary) == ["image render /1: ok", "image render /2: ok"])
    }

    @Test(arguments: [
        "", ".", "custom:a", ".key", "custom:a.", "custom:a..b", String(repeating: "a.", count: 40) + "b",
    ])
    func invalidDeclarationIsRefused(_ key: String) {
        var vocabulary = ScreenVocabulary.standard
        let error = #expect(throws: NetworkError.self) { try vocabulary.declare(key, as: .image) }
        #expect(error?.kind == .badConfiguration && error?.advice != nil)
        #expect(vocabulary == .standard)
    }

    @Test func unknownRoleIsRefused() {
        var vocabulary = ScreenVocabulary.standard
        #expect(throws: NetworkError.self) { try vocabulary.declare("custom:a.b", as: .init(rawValue: "video")) }
    }
}

extension [String] {
    /// The components as children of a container.
    fileprivate var asChildren: String { ScreenFixture.container(joined(separator: ", ")) }
}
