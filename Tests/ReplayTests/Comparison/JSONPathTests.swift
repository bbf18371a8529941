import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

struct JSONPathTests {
    private static let pathsAreParsedArguments: [(String, [JSONPath.Step])] = [
        ("$", []), ("$.a", [.member("a")]), ("$['a.b'][\"c'd\"]", [.member("a.b"), .member("c'd")]),
        ("$.a[3][*].*", [.member("a"), .element(3), .any, .any]), ("$..x", [.member("x")]), ("$..[*]", [.any]),
        ("$.é b-c", [.member("é b-c")]), ("$['']", [.member("")]),
    ]

    @Test(arguments: Self.pathsAreParsedArguments)
    func pathsAreParsed(_ text: String, _ steps: [JSONPath.Step]) throws {
        let path = try JSONPath(text)
        #expect(path.steps == steps)
        #expect(path.description == text)
    }

    private static let invalidPathIsReportedWithItsPositionArguments: [(String, Int, String)] = [
        ("", 1, "must begin with $"), ("a", 1, "must begin with $"), ("$a", 2, "step must begin"),
        ("$.", 3, "name is missing"),
        ("$..", 4, "name is missing"), ("$.a..", 6, "name is missing"), ("$[", 3, "index"), ("$[-1]", 3, "index"),
        ("$[1", 4, "] is missing"), ("$['a", 5, "' is missing"), ("$['a'", 6, "] is missing"),
        ("$[*", 4, "] is missing"),
        ("$[?(@.a)]", 3, "index"), ("$[1:2]", 4, "] is missing"), ("$[99999999999999999999]", 3, "index"),
        ("$" + String(repeating: ".a", count: 64), 128, "63 steps"),
    ]

    @Test(arguments: Self.invalidPathIsReportedWithItsPositionArguments)
    func invalidPathIsReportedWithItsPosition(_ text: String, _ place: Int, _ reason: String) {
        let error = #expect(throws: NetworkError.self) { try JSONPath(text) }
        #expect(error?.kind == .badConfiguration)
        #expect(error?.message.contains("character \(place):") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    private static let pathMatchesItsPlacesArguments: [(String, [String], Bool)] = [
        ("$..a", ["a"], true), ("$..a", ["b", "a"], true), ("$..a", ["a", "b"], false), ("$..a", ["a", "a"], true),
        ("$..a.b", ["x", "a", "b"], true), ("$..a.b", ["a", "x", "b"], false), ("$..a..b", ["a", "x", "b"], true),
        ("$.*.b", ["a", "b"], true), ("$.*.b", ["b"], false), ("$", [], true), ("$", ["a"], false),
    ]

    @Test(arguments: Self.pathMatchesItsPlacesArguments)
    func pathMatchesItsPlaces(_ text: String, _ names: [String], _ fits: Bool) throws {
        let root = PathPosition([try JSONPath("$.never"), try JSONPath(text)])
        let place = names.reduce(root) { $0.member($1) }
        #expect(place.fits(1) == fits)
        #expect(!place.fits(0))
    }
}
