import BeagleNetHTTP
import Testing

@testable import beagle

struct ComponentStyleTests {
    private static let styles: [(String, String)] = [
        (##"{"backgroundColor": "#FFAA00"}"##, "background-color:#FFAA00"),
        (#"{"cornerRadius": {"radius": 8, "topLeft": 2.5}}"#, "border-radius:8px;border-top-left-radius:2.5px"),
        (
            #"{"size": {"width": {"value": 50, "type": "PERCENT"}, "height": {"type": "AUTO", "value": 1}}}"#,
            "width:50%;height:auto"
        ),
        (
            #"{"margin": {"all": {"value": 4, "type": "REAL"}, "left": {"value": -1, "type": "REAL"}}}"#,
            "margin:4px;margin-left:-1px"
        ),
        (#"{"padding": {"vertical": {"value": 3, "type": "REAL"}}}"#, "padding-top:3px;padding-bottom:3px"),
        (
            #"{"positionType": "ABSOLUTE", "position": {"top": {"value": 1, "type": "REAL"}}}"#,
            "position:absolute;top:1px"
        ),
        (
            """
            {"flex": {"flexDirection": "ROW_REVERSE", "flexWrap": "NO_WRAP", "justifyContent": "SPACE_BETWEEN", "alignItems": "CENTER",
             "grow": 1, "shrink": 0, "basis": {"value": 10, "type": "REAL"}}}
            """,
            "flex-direction:row-reverse;flex-wrap:nowrap;justify-content:space-between;align-items:center;"
                + "flex-grow:1;flex-shrink:0;flex-basis:10px"
        ),
        (#"{"display": "NONE"}"#, "display:none"),
    ]

    @Test(arguments: styles)
    func styleIsWrittenAsCSS(_ style: String, _ css: String) throws {
        let style = try JSONValue(parsing: style)
        #expect(ComponentStyle(of: ["style": style]).css == css)
    }

    private static let hostile = [
        ##"{"backgroundColor": "#fff;background:url(https://h)"}"##, #"{"backgroundColor": "red"}"#,
        ##"{"backgroundColor": "#ggg"}"##, #"{"flex": {"flexDirection": "row;color:red"}}"#,
        #"{"size": {"width": {"value": "1px;x:y", "type": "REAL"}, "height": {"value": 1e300, "type": "REAL"}}}"#,
        #"{"positionType": "FIXED"}"#, #""text""#, "[]", "null",
    ]

    /// A screen can't add declarations of its own, such as one with a URL.
    @Test(arguments: hostile)
    func otherValuesAreLeftOut(_ style: String) throws {
        let style = try JSONValue(parsing: style)
        #expect(ComponentStyle(of: ["style": style]).css == "")
    }
}
