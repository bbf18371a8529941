import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay

/// The flags that say what counts as a difference.
struct ComparisonFlags: ParsableArguments {
    /// For messages.
    static let names = "'--ignore', '--ignore-header', '--array-key', '--array-set', '--tolerance' and '--types-only'"

    @Option(name: .long, help: ArgumentHelp("Pass over this place in JSON. Repeatable.", valueName: "path"))
    var ignore: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("Pass over these header fields too, with commas between. Repeatable.", valueName: "names")
    )
    var ignoreHeader: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Match the elements of this array by a member, as '$.items=id'. Repeatable.",
            valueName: "path=member"
        )
    )
    var arrayKey: [String] = []

    @Option(name: .long, help: ArgumentHelp("The order of this array does not count. Repeatable.", valueName: "path"))
    var arraySet: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("Numbers may be this far apart, as a part of the larger: 1e-9.", valueName: "part")
    )
    var tolerance = 0.0

    @Flag(name: .long, help: "Values may be any others of their kind; only members and kinds count.")
    var typesOnly = false

    func validate() throws {
        guard tolerance >= 0, tolerance < 1 else {
            throw ValidationError("'--tolerance' takes a number from 0 to below 1.")
        }
    }

    /// Whether any is given.
    var isGiven: Bool {
        !(ignore + ignoreHeader + arrayKey + arraySet).isEmpty || tolerance > 0 || typesOnly
    }

    func rules() throws -> ComparisonRules {
        var rules = ComparisonRules()
        rules.ignoredPaths = try ignore.map { path throws in try JSONPath(path) }
        rules.arrays = try arrayKey.map { text throws in
            guard let equals = text.lastIndex(of: "="), text.index(after: equals) < text.endIndex else {
                throw ValidationError("'--array-key' takes PATH=MEMBER, as '$.items=id'.")
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
