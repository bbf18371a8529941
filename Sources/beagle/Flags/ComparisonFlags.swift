import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay

/// The options that define which differences count.
struct ComparisonFlags: ParsableArguments {
    /// The names of the options, for error messages.
    static let names = "'--ignore', '--ignore-header', '--array-key', '--array-set', '--tolerance' and '--types-only'"

    @Option(name: .long, help: ArgumentHelp("Ignore this path in JSON. Repeatable.", valueName: "path"))
    var ignore: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Ignore these header fields, in addition to Date and the like. Separated by commas. Repeatable.",
            valueName: "names"
        )
    )
    var ignoreHeader: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Match the elements of this array by a member, such as '$.items=id'. Repeatable.",
            valueName: "path=member"
        )
    )
    var arrayKey: [String] = []

    @Option(name: .long, help: ArgumentHelp("Ignore the order of this array. Repeatable.", valueName: "path"))
    var arraySet: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Allowed difference between numbers, relative to the larger, such as 1e-9.",
            valueName: "part"
        )
    )
    var tolerance = 0.0

    @Flag(name: .long, help: "Compare only the members and types of JSON, not the values.")
    var typesOnly = false

    func validate() throws {
        guard tolerance >= 0, tolerance < 1 else {
            throw ValidationError("'--tolerance' must be at least 0 and below 1.")
        }
    }

    /// Whether any of the options is given.
    var isGiven: Bool {
        !(ignore + ignoreHeader + arrayKey + arraySet).isEmpty || tolerance > 0 || typesOnly
    }

    func rules() throws -> ComparisonRules {
        var rules = ComparisonRules()
        rules.ignoredPaths = try ignore.map { path throws in try JSONPath(path) }
        rules.arrays = try arrayKey.map { text throws in
            guard let equals = text.lastIndex(of: "="), text.index(after: equals) < text.endIndex else {
                throw ValidationError("'--array-key' must be PATH=MEMBER, such as '$.items=id'.")
            }
            return .init(try JSONPath(String(text[..<equals])), .key(String(text[text.index(after: equals)...])))
        }
        rules.arrays += try arraySet.map { path throws in .init(try JSONPath(path), .set) }
        let headers = ignoreHeader.flatMap { $0.lowercased().split { $0 == "," || $0 == " " }.map(String.init) }
        rules.ignoredHeaders.formUnion(headers)
        rules.tolerance = tolerance
        rules.comparesTypesOnly = typesOnly
        return rules
    }
}
