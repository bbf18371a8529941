import BeagleNetHTTP
import Foundation
import Testing

@testable import beagle

struct ComponentTreeTests {
    private func lines(_ json: String) throws -> [String] {
        let tree = try ComponentTree(parsing: Data(json.utf8))
        return tree.lines { text, _ in text } + [tree.summaryLine]
    }

    @Test func homeScreenIsDrawnWithItsLinks() throws {
        #expect(
            try lines(DemoScreens.home) == [
                #"screenComponent  "Home"  → openExternalURL https://usebeagle.io"#,
                #"└─ container  column, padding 16"#,
                #"   ├─ image          /img/banner.png"#,
                #"   ├─ text           "Hello, @{user.name}""#,
                #"   ├─ button         "Details"  → pushView /details prefetch"#,
                #"   ├─ button         "Sign up"  → pushView /signup"#,
                #"   ├─ lazyComponent  /lazy/news"#,
                #"   │  └─ text  "Loading the news""#,
                #"   ├─ custom:chart   (unknown component)"#,
                #"   └─ simpleForm     → sendRequest POST /signup  → alert"#,
                #"      ├─ textInput  "E-mail""#,
                #"      └─ button     "Send"  → submitForm"#,
                #"links 3 · images 1 · forms 1 · unknown 1"#,
            ]
        )
    }

    struct Shape: CustomTestStringConvertible {
        let testDescription: String
        let json: String
        let lines: [String]
    }

    private static let shapeIsDrawnArguments: [Shape] = [
        Shape(
            testDescription: "a name in another case is the same component",
            json: #"{"_beagleComponent_": "Beagle:TEXT", "text": "a"}"#,
            lines: [#"TEXT  "a""#, "links 0 · images 0 · forms 0 · unknown 0"]
        ),
        Shape(
            testDescription: "a custom component's parts are found under any key",
            json: """
                {"_beagleComponent_": "custom:card", "top": {"deep": [{"_beagleComponent_": "beagle:button", "text": "b",
                "onPress": {"_beagleAction_": "beagle:pushStack", "route": {"url": "/x"}}}]}}
                """,
            lines: [
                "custom:card  (unknown component)", #"└─ button  "b"  → pushStack /x"#,
                "links 1 · images 0 · forms 0 · unknown 1",
            ]
        ),
        Shape(
            testDescription: "an unknown name of Beagle's own is unknown too",
            json: #"{"_beagleComponent_": "beagle:hologram"}"#,
            lines: ["hologram  (unknown component)", "links 0 · images 0 · forms 0 · unknown 1"]
        ),
        Shape(
            testDescription: "a local image makes no request",
            json: #"{"_beagleComponent_": "beagle:image", "path": {"_beagleImagePath_": "local", "mobileId": "logo"}}"#,
            lines: ["image  logo (local)", "links 0 · images 0 · forms 0 · unknown 0"]
        ),
        Shape(
            testDescription: "an image may be one expression",
            json: #"{"_beagleComponent_": "beagle:image", "path": "@{user.photo}"}"#,
            lines: ["image  @{user.photo}", "links 0 · images 1 · forms 0 · unknown 0"]
        ),
        Shape(
            testDescription: "a route may contain its screen, without a type marker",
            json: """
                {"_beagleComponent_": "beagle:button", "onPress": [{"_beagleAction_": "beagle:pushView",
                "route": {"screen": {"child": {"_beagleComponent_": "beagle:text", "text": "t"}}}}]}
                """,
            lines: [
                "button  → pushView", "└─ screen", #"   └─ text  "t""#, "links 0 · images 0 · forms 0 · unknown 0",
            ]
        ),
        Shape(
            testDescription: "components of a context are data",
            json: """
                {"_beagleComponent_": "beagle:container",
                "context": {"id": "c", "value": {"_beagleComponent_": "beagle:text"}}}
                """,
            lines: ["container", "links 0 · images 0 · forms 0 · unknown 0"]
        ),
        Shape(
            testDescription: "the templates of a list are components",
            json: """
                {"_beagleComponent_": "beagle:listView", "templates": [{"case": "@{a}",
                "view": {"_beagleComponent_": "beagle:image", "path": {"_beagleImagePath_": "remote", "url": "/i"}}}]}
                """,
            lines: ["listView", "└─ image  /i", "links 0 · images 1 · forms 0 · unknown 0"]
        ),
        Shape(
            testDescription: "screens from before Beagle 1.0 are read",
            json: """
                {"_beagleType_": "beagle:component:touchable",
                "action": {"_beagleType_": "beagle:action:navigate", "path": "/old", "shouldPrefetch": true},
                "child": {"_beagleType_": "beagle:component:networkimage", "path": "/i.png"}}
                """,
            lines: [
                "touchable  → navigate /old prefetch", "└─ networkimage  /i.png",
                "links 1 · images 1 · forms 0 · unknown 0",
            ]
        ),
        Shape(
            testDescription: "control characters of a server do not reach the terminal",
            json: #"{"_beagleComponent_": "beagle:text", "text": "a\u001b[31mb\nc"}"#,
            lines: [#"text  "a [31mb c""#, "links 0 · images 0 · forms 0 · unknown 0"]
        ),
        Shape(
            testDescription: "a form's target and the actions after it are shown",
            json: """
                {"_beagleComponent_": "beagle:form", "onSubmit": [{"_beagleAction_": "beagle:formRemoteAction",
                "path": "/save", "method": "put"}], "child": {"_beagleComponent_": "beagle:formInput", "name": "age"}}
                """,
            lines: [
                "form  → formRemoteAction PUT /save", "└─ formInput  age", "links 0 · images 0 · forms 1 · unknown 0",
            ]
        ),
    ]

    @Test(arguments: Self.shapeIsDrawnArguments)
    func shapeIsDrawn(_ shape: Shape) throws {
        #expect(try lines(shape.json) == shape.lines)
    }

    @Test(arguments: ["{}", "[]", "7", #"{"_beagleAction_": "beagle:popView"}"#, #"{"_beagleComponent_": 7}"#])
    func nonComponentHasNoTree(_ json: String) throws {
        #expect(throws: NetworkError.self) { try ComponentTree(parsing: Data(json.utf8)) }
    }

    @Test func tooDeepScreenIsNotDrawn() throws {
        let (open, close) = (#"{"_beagleComponent_":"beagle:container","children":["#, "]}")
        func tree(_ depth: Int) throws -> ComponentTree {
            let json = String(repeating: open, count: depth) + String(repeating: close, count: depth)
            return try ComponentTree(parsing: Data(json.utf8))
        }
        #expect(try tree(512).summary.components == 512)
        #expect(throws: NetworkError.self) { try tree(513) }
    }
}
