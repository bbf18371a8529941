import BeagleNetHTTP
import Foundation
import Testing

@testable import BeagleNet

struct ParsedScreenTests {
    typealias Make = ScreenFixture

    private static let roots: [(String, String?, String?, Bool)] = [
        (
            #"{"_beagleComponent_": "beagle:screenComponent", "identifier": "home"}"#, "beagle:screenComponent", "home",
            true
        ),
        (#"{"_beagleComponent_": "beagle:container", "identifier": "a", "id": "b"}"#, "beagle:container", "b", true),
        (#"{"id": "n", "_:component": "layout:row"}"#, "layout:row", "n", true),
        (#"{"_beagleAction_": "beagle:popView"}"#, "beagle:popView", nil, false),
        (#"{"_beagleComponent_": 7}"#, nil, nil, false), (#"{"id": "a"}"#, nil, nil, false), ("[]", nil, nil, false),
        ("{}", nil, nil, false), (" 7 ", nil, nil, false), ("\u{FEFF}null", nil, nil, false),
    ]

    @Test(arguments: roots)
    func rootIsDescribed(_ json: String, _ type: String?, _ id: String?, _ isScreen: Bool) throws {
        let screen = try Make.parse(json)
        #expect(screen.type == type && screen.id == id && screen.isScreen == isScreen)
        #expect(screen.document == Data(json.utf8))
    }

    @Test func referenceHasItsPartsAndTheWayToIt() throws {
        let request = """
            {"_beagleAction_": "beagle:sendRequest", "url": "/q", "method": "put", "headers": {"A": "b"},
            "data": {"c": "@{d.e}"}, "onSuccess": [{"_beagleAction_": "beagle:alert", "onPressOk":
            {"_beagleAction_": "beagle:pushView", "route": {"url": "/r"}}}]}
            """
        let json = #"{"_beagleComponent_": "beagle:button", "a/b~c": [0, {"onPress": [\#(request)]}]}"#
        let references = try Make.parse(json).plan.references
        let first = try #require(references.first)
        #expect(first.pointer == "/a~1b~0c/1/onPress/0/url")
        #expect(first.method == "PUT" && first.events == ["onPress"] && !first.isPrefetchable)
        #expect(first.headers.map { String(decoding: $0, as: UTF8.self) } == #"{"A": "b"}"#)
        #expect(first.body.map { String(decoding: $0, as: UTF8.self) } == #"{"c": "@{d.e}"}"#)
        let last = try #require(references.last)
        #expect(last.events == ["onPress", "onSuccess", "onPressOk"])
        #expect(last.pointer == "/a~1b~0c/1/onPress/0/onSuccess/0/onPressOk/route/url")
        #expect(last.headers == nil && last.body == nil && last.fields.isEmpty)
    }

    @Test func formHasTheNamesOfItsInputs() throws {
        func input(_ name: String) -> String { Make.component("beagle:formInput", #""name": "\#(name)", "child": {}"#) }
        let json = Make.container(
            """
            \(input("before")), \(Make.component("beagle:form", """
            "child": \(Make.container("\(input("a")), \(input("b"))")), "group": "g",
            "onSubmit": [{"_beagleAction_": "beagle:formRemoteAction", "path": "/s", "method": "POST",
            "additionalData": {"x": "y"}}]
            """)), \(input("after"))
            """
        )
        let form = try #require(try Make.parse(json).plan.references.first)
        #expect(form.fields == ["a", "b"] && form.method == "POST" && form.kind == .form)
        #expect(form.body.map { String(decoding: $0, as: UTF8.self) } == #"{"x": "y"}"#)
    }

    @Test func sliceOfDataIsReadFromItsBeginning() throws {
        let data = Data("xx\(Make.button("beagle:sendRequest", #""url": "/q", "data": [1]"#))yy".utf8)
        let screen = try ParsedScreen(parsing: data.dropFirst(2).dropLast(2))
        #expect(screen.plan.references.first?.url == "/q")
        #expect(screen.plan.references.first?.body == Data("[1]".utf8))
    }

    // MARK: - Other schemes and undeclared URLs

    @Test(arguments: [
        "empty://", "data:image/png;base64,AA", "app://x", "file:///etc/passwd", "javascript:alert(1)", "tel:1",
        "mailto:a@b.c", "ftp://a/b", #"\u0074el:1"#,
    ])
    func otherSchemeIsListedWithTheReason(_ url: String) throws {
        let text = try #require(JSONValue(parsing: #""\#(url)""#).string)
        #expect(try Make.lines(Make.image(url)) == ["image render \(text): other scheme"])
        let route = Make.button("beagle:pushView", #""route": {"url": "\#(url)", "shouldPrefetch": true}"#)
        #expect(try Make.lines(route) == ["route action \(text): other scheme"])
        #expect(try Make.lines(Make.component("beagle:text", #""text": "\#(url)""#)).isEmpty)
        #expect(try Make.lines(Make.component("custom:x", #""any": "\#(url)""#)).isEmpty)
    }

    @Test func schemeBeforeAnExpressionIsTheReason() throws {
        let button = Make.button("beagle:openExternalURL", #""url": "tel:@{onSuccess.data}""#)
        #expect(try Make.lines(button) == ["web page action ? tel:@{onSuccess.data}: other scheme"])
    }

    @Test func emptyURLIsNoReference() throws {
        #expect(try Make.lines(Make.image("")).isEmpty)
        #expect(try Make.lines(Make.button("beagle:pushView", #""route": {"url": ""}"#)).isEmpty)
    }

    @Test(arguments: ["http://a", "HTTPS://A/b", #"https:\/\/a\/b"#, #"\u0068ttp://a/@{b}"#])
    func undeclaredURLIsListedAsUnknown(_ url: String) throws {
        let references = try Make.parse(Make.component("custom:x", #""any": {"deep": ["\#(url)"]}"#)).plan.references
        #expect(references.map(\.kind) == [.unknown])
        #expect(references.first?.isPrefetchable == false)
        #expect(references.first?.pointer == "/any/deep/0")
    }

    @Test(arguments: ["style", "accessibility", "analytics"])
    func memberWithoutReferencesIsSkipped(_ name: String) throws {
        #expect(try Make.lines(Make.component("custom:x", #""\#(name)": {"a": "https://x", "b": [{}, []]}"#)).isEmpty)
    }

    // MARK: - Wrong types

    @Test(arguments: ["7", "null", "true", "[]", "{}", #"["/a"]"#, #"{"uri": "/a"}"#, #"[[[{"a": [1]}]]]"#])
    func valueOfAnotherTypeIsNoReference(_ value: String) throws {
        let route = ["url", "shouldPrefetch", "fallback", "screen", "httpAdditionalData"]
        for name in route { _ = try Make.parse(Make.button("beagle:pushView", #""route": {"\#(name)": \#(value)}"#)) }
        let screens = [
            Make.component("beagle:image", #""path": {"_beagleImagePath_": "remote", "url": \#(value)}"#),
            Make.component("beagle:image", #""path": {"_beagleImagePath_": \#(value), "url": "/a"}"#),
            Make.component("beagle:lazyComponent", #""path": \#(value)"#),
            Make.button("beagle:pushView", #""route": \#(value)"#),
            Make.button("beagle:pushView", #""route": {"url": \#(value)}"#),
            Make.button("beagle:sendRequest", #""url": \#(value), "method": \#(value), "headers": \#(value)"#),
            Make.component("beagle:form", #""onSubmit": \#(value)"#),
            Make.component("beagle:formInput", #""name": \#(value)"#),
            Make.component("beagle:listView", #""dataSource": \#(value), "templates": \#(value)"#),
            Make.component("beagle:listView", #""template": \#(value), "iteratorName": \#(value)"#),
            Make.container("", #""context": \#(value)"#),
            Make.container("", #""context": {"id": \#(value), "value": \#(value)}"#),
        ]
        for json in screens { #expect(try Make.lines(json).isEmpty, "\(json)") }
        let request = try Make.parse(
            Make.button(
                "beagle:sendRequest",
                #""url": "/q", "method": \#(value), "headers": \#(value), "data": \#(value)"#
            )
        )
        #expect(request.plan.references.first?.method == "GET")
    }

    // MARK: - Malformed documents

    private static let malformed: [(String, String)] = [
        ("", "line 1, column 1 ($): unexpected end"),
        ("<html><body>Sign in</body></html>", "line 1, column 1 ($): expected a value"),
        ("{\n  \"a\": [1, {\"b\" 2}]}", "line 2, column 17 ($.a[1]): expected a colon"),
        (#"{"a": {"b": [1, 2, x]}}"#, "line 1, column 20 ($.a.b[2]): expected a value"),
        (#"{"style": {"a": [tru]}}"#, "line 1, column 18 ($.style.a[0]): expected a value"),
        (#"{"a": 01}"#, "column 8 ($.a): a number has a leading zero"),
        (#"{"a": 1.}"#, "column 9 ($.a): expected a digit"),
        (#"{"a": "\x"}"#, "column 9 ($.a): unknown escape"),
        (#"{"a": "\u12G4"}"#, "($.a): expected a hexadecimal digit"),
        ("{\"a\": \"b\nc\"}", "line 1, column 9 ($.a): a control character"), (#"{"a": 1,}"#, "expected a member name"),
        ("[1, 2", "column 6 ($[1]): unexpected end"), ("[1 2]", "expected a comma or the end of the array"),
        (#"{"a": 1 "b": 2}"#, "expected a comma or the end of the object"), ("{} {}", "column 4 ($): unexpected text"),
        ("nul", "unexpected end"), (#"{"a": "b"#, "($.a): unexpected end"),
        ("{a: 1}", "expected a member name in quotes"),
        ("[1,]", "expected a value"), ("-", "unexpected end"), ("1e", "unexpected end"), ("+1", "expected a value"),
        ("NaN", "expected a value"), ("[1]]", "unexpected text after the value"),
        ("\u{FEFF}\u{FEFF}1", "expected a value"),
    ]

    @Test(arguments: malformed)
    func malformedDocumentIsRefusedWithItsPlace(_ json: String, _ message: String) {
        let error = #expect(throws: NetworkError.self) { try Make.parse(json) }
        #expect(error?.kind == .decoding)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "none")")
        // With the marker last, another reader sees the text first.
        let late = #"{"b": {"c": 1, "_beagleComponent_": "beagle:text"}, "a": \#(json)"#
        #expect(throws: NetworkError.self) { try Make.parse(late) }
    }

    @Test(arguments: [[0x80], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0xFF]])
    func invalidUTF8IsRefused(_ bytes: [UInt8]) {
        for padding in 0..<20 {
            let text = Data(#"{"a": "\#(String(repeating: "x", count: padding))"#.utf8) + bytes + Data("\"}".utf8)
            let error = #expect(throws: NetworkError.self) { try ParsedScreen(parsing: text) }
            #expect(error?.message.contains("column \(8 + padding) ($.a): the text is not valid UTF-8") == true)
        }
    }

    @Test func validUTF8IsAccepted() throws {
        for text in ["é", "€", "😀", "\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}", String(repeating: "日本", count: 99)] {
            for padding in 0..<20 {
                let json = Make.component("custom:x", #""a": "\#(String(repeating: "x", count: padding))\#(text)""#)
                #expect(throws: Never.self) { try Make.parse(json) }
            }
        }
    }

    /// The reader accepts and refuses the same texts as the package's other parser.
    @Test func everyPrefixIsJudgedLikeByTheOtherParser() throws {
        let json = #"[{"a":"\u00e9\"\/","b":[-1.5e+3,0,true,false,null,{}],"style":{"c":[[],{"d":1}]}},"é"] "#
        let bytes = Array(json.utf8)
        for count in 0...bytes.count {
            let prefix = Data(bytes[..<count])
            #expect((try? ParsedScreen(parsing: prefix)) == nil ? (try? JSONValue(parsing: prefix)) == nil : true)
            for byte in [0x22, 0x5C, 0x7B, 0x5D, 0x2C, 0x30, 0x65, 0x00] as [UInt8] where count < bytes.count {
                var changed = bytes
                changed[count] = byte
                let isValid = (try? JSONValue(parsing: Data(changed))) != nil
                #expect(
                    ((try? ParsedScreen(parsing: Data(changed))) != nil) == isValid,
                    "\(String(decoding: changed, as: UTF8.self))"
                )
            }
        }
    }

    // MARK: - Limits

    @Test func hundredThousandLevelsAreRead() throws {
        let depth = 100_000
        for (open, close) in [("[", "]"), (#"{"a":"#, "}"), (#"{"style":"#, "}")] {
            let json = String(repeating: open, count: depth) + "7" + String(repeating: close, count: depth)
            #expect(throws: Never.self) { try Make.parse(json) }
            let error = #expect(throws: NetworkError.self) { try Make.parse("[\(json)]") }
            #expect(error?.message.contains("nested more than 100000 levels deep") == true)
        }
    }

    @Test func deepReferenceIsFound() throws {
        let (open, close) = (#"{"_beagleComponent_":"beagle:container","children":["#, "]}")
        let depth = 49_000
        let json = String(repeating: open, count: depth) + Make.image("/a") + String(repeating: close, count: depth)
        let reference = try #require(try Make.parse(json).plan.references.first)
        #expect(reference.pointer.utf8.count == depth * "/children/0".utf8.count + "/path/url".utf8.count)
    }

    @Test func deepContextsAreResolved() throws {
        var (open, close) = ("", "")
        for level in 0..<20_000 {
            open +=
                #"{"_beagleComponent_":"beagle:container","context":{"id":"c\#(level)","value":"/\#(level)"},"children":["#
            close += "]}"
        }
        let screen = try Make.parse(open + Make.image("@{c0}@{c19999}") + close)
        #expect(screen.plan.references.first?.resolvedURL == "/0/19999")
    }

    @Test func tooLargeDocumentIsRefused() {
        let error = #expect(throws: NetworkError.self) {
            try ParsedScreen(parsing: Data(repeating: 0x20, count: ParsedScreen.maxBytes + 1))
        }
        #expect(error?.kind == .tooLarge)
    }

    @Test func millionImagesAreCapped() throws {
        var vocabulary = ScreenVocabulary.standard
        try vocabulary.declare("custom:x.images", as: .image)
        let images = Array(repeating: #""/i""#, count: 1_000_000).joined(separator: ",")
        let screen = try Make.parse(Make.component("custom:x", #""images": [\#(images)]"#), vocabulary)
        #expect(
            screen.plan.references.count == 10_000 && screen.plan.omittedCount == 990_000 && screen.plan.isTruncated
        )
    }

    @Test(arguments: [-1, 0, 1, 3])
    func capMayBeChosen(_ limit: Int) throws {
        let json = Make.container((0..<5).map { Make.image("/\($0)") }.joined(separator: ","))
        let plan = try ParsedScreen(parsing: Data(json.utf8), maxReferences: limit).plan
        #expect(plan.references.map(\.url) == (0..<max(0, limit)).map { "/\($0)" })
        #expect(plan.omittedCount == 5 - max(0, limit))
    }
}
